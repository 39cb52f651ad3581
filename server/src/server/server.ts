import type { Logger } from 'pino'
import { openAutomation, openRuns } from './automation'
import { openCatalog } from './catalog'
import { createDashboardFiles } from './dashboard'
import { openGateway, type OpenedGateway } from './gateway'
import { openJobs } from './jobs'
import { openPartitions } from '../booking/partitions'
import { closeConnectionsOnStop, stopOf } from './shutdown'
import { openFirstAccount, type FirstAccount } from './first-account'
import { openPayments } from './payments'
import { createReadiness } from './readiness'
import { openNotices } from './notices'
import { openStorage, type Storage } from './storage'
import { openSignIn, type OpenedSignIn } from './sign-in'
import { openStores } from './api-stores'
import { openTelemetry } from './telemetry'
import { openSettings, liveTimers } from './settings'
import { openLoad } from './load'
import { createUserStore } from '../api/operator/users/store'
import { createApp } from './app/app'
import { createFront } from './app/front'
import { withGateways } from './app/gateway-socket'
import type { Catalog } from '../catalog/catalog'
import type { Config, Timers } from '../platform/config/config'
import { getLocalUrl } from '../platform/config/address'
import { createCrasher, type CrashAt } from '../platform/crash-points'
import { newId } from '../platform/db/id'
import { unavailable } from '../errors'
import type { Sockets } from '../tunnel/sockets'
import { StreamWatch } from '../http/event-stream'
import type { RequestObserver } from '../http/finish-response'
import { createGuards } from '../http/guards'
import { listen } from '../http/listen'
import type { Readiness } from '../http/service'
import type { Claims } from '../idempotency/claims'
import { createTrail } from '../audit-log/operator-trail'
import { openResponses } from './responses'
import type { ReplyPorts } from '../v1/reply'
import type { ResponsePorts } from '../v1/responses'

/** A running server. */
export interface RunningServer {
  /** The address of the server for callers, without a final slash. */
  address: string
  port: number
  catalog: Catalog
  storage: Storage
  firstAccount: FirstAccount
  signIn: Pick<OpenedSignIn, 'linkFor'>
  /** The number of running requests; a stream counts until its last byte. */
  running: () => number
  /**
   * Shuts down gracefully: reports not ready, then accepts no new requests and lets the running ones finish, then
   * closes everything. Further calls return the same shutdown. `hurry` is for a process in an unreliable state: it
   * accepts nothing from now on, and its requests get that long.
   */
  stop: (hurry?: { drainMs: number }) => Promise<void>
}

interface Options {
  log: Logger
  /** Called when the process cannot continue. */
  onLost: (reason: string) => void
}

/** Opens all services and serves. Throws `StartError`. */
export async function startServer(config: Config, options: Options): Promise<RunningServer> {
  // A failure disposes of everything that was opened before it.
  await using opening = new AsyncDisposableStack()
  const { log } = options
  const crashAt = config.crashAt && createCrasher(config.crashAt)
  const storage = await openStorage(config, opening, {
    log: (line) => log.info(line),
    onLost: options.onLost,
    onError: (err) => log.warn({ err }, 'a database connection broke'),
  })
  await openPartitions({ storage, log })
  const { catalog, lookForLocalServers } = await openCatalog({ config, storage, log }, opening)
  const settings = await openSettings({ config, storage, log }, opening)
  const timers = liveTimers(config.timers, settings)
  const watch = opening.use(new StreamWatch(config.timers))
  const notices = openNotices({ config, settings, storage, log }, opening)
  const talks = openRuns({ storage, log }, opening)
  const telemetry = await openTelemetry({ config, catalog, log }, opening)
  const shared = { config, timers, settings, storage, catalog, log, crashAt, notices }
  const parts = { ...shared, telemetry, runs: talks.runs }
  const opened = await openGateway(parts, opening)
  const { claims, drains, sockets } = opened
  const payments = await openPayments(parts, opened, opening)
  const state = { isStopping: false }
  // Set once the server listens.
  const address = { here: config.baseUrl ?? '' }
  const stores = openStores({ ...parts, payments, address: () => address.here }, opened)
  const signIn = openSignIn(parts, () => address.here)
  const readiness = readinessFor(parts, opened, state)
  const responses = openResponses(parts, opening)
  const app = assemble(parts, { opened, stores, signIn, talks, watch, readiness, responses })
  const firstAccount = await firstAccountOf(config, storage)
  const load = openLoad({ config, log, streams: () => watch.size, budget: opened.budget }, opening)
  const front = createFront(app, { ...telemetry, ...load })
  const http = listenFor(closeConnectionsOnStop(front, state), parts, sockets)
  const port = http.port ?? config.port
  address.here = config.baseUrl ?? getLocalUrl(config.host, port)
  opening.use(openJobs({ config, settings, storage, log, audits: telemetry.audits }))
  opening.use(lookForLocalServers(port))

  const figures = () => ({ ...opened.figures(), ...state, ...load.figures() })
  await telemetry.listen({ figures, readiness }, opening)
  const told = { address: address.here, port, catalog, storage, firstAccount, signIn }
  const open = opening.move()
  const endAll = () => {
    watch.endAll(unavailable())
    opened.endAll(unavailable())
    talks.runs.haltAll(unavailable())
  }
  const stop = stopOf({
    running: { http, claims, background: responses.runs, drains, sockets, endAll },
    state,
    timers: config.timers,
    close: () => open.disposeAsync(),
  })
  return { ...told, running: () => http.pendingRequests, stop }
}

const firstAccountOf = ({ firstCredit }: Config, { database, sharedDir }: Storage) =>
  openFirstAccount(database.query, createUserStore(database.query), {
    dataDir: sharedDir,
    credit: firstCredit,
  })

type Parts = Parameters<typeof openGateway>[0]

/** Opens the port, for requests and for the sockets of self-hosted gateways. */
const listenFor = (
  front: ReturnType<typeof createFront>,
  { config, telemetry: { witness } }: Pick<Parts, 'config' | 'telemetry'>,
  sockets: Sockets,
) =>
  listen(withGateways(front, sockets, witness), {
    config,
    newRequestId: () => newId('req'),
    websocket: sockets.handlers,
  })

interface Assembled {
  opened: OpenedGateway
  stores: ReturnType<typeof openStores>
  signIn: OpenedSignIn
  talks: ReturnType<typeof openRuns>
  watch: StreamWatch
  readiness: Readiness
  responses: ResponsePorts
}

const readinessFor = (
  { storage, timers }: Pick<Parts, 'storage' | 'timers'>,
  { isJournalWritable }: Pick<OpenedGateway, 'isJournalWritable'>,
  state: { readonly isStopping: boolean },
) =>
  createReadiness({
    ping: () => storage.database.ping(),
    isJournalWritable,
    state,
    graceMs: timers.databaseGraceMs,
  })

/** Assembles the application from the opened services. */
function assemble(
  { config, timers, storage, catalog, log, crashAt, telemetry }: Parts,
  { opened, stores, signIn, talks, watch, readiness, responses }: Assembled,
) {
  const { gateway, door, claims, lookUps } = opened
  const { adminKey } = storage.installation
  return createApp({
    gateway,
    catalog,
    collectionsFor: lookUps.collectionsFor,
    modelsFor: lookUps.modelsFor,
    guards: createGuards({
      door,
      adminKey,
      sessions: signIn,
      trail: createTrail(storage.database.query),
    }),
    signIn,
    dashboard: createDashboardFiles(),
    responses,
    reply: replyPorts(timers, { watch, claims, log, crashAt, counts: telemetry.witness.counts }),
    readiness,
    stores,
    automation: openAutomation({ config, timers, storage, log }, { lookUps, ways: opened, talks }),
    witness: telemetry.witness,
  })
}

interface Answering {
  watch: StreamWatch
  claims: Claims
  log: Logger
  crashAt: CrashAt | undefined
  counts: Pick<RequestObserver['counts'], 'failed'>
}

const replyPorts = (
  timers: Timers,
  { watch, claims, log, crashAt, counts }: Answering,
): ReplyPorts => ({
  watch,
  claims,
  get requestMs() {
    return timers.requestMs
  },
  earlyHeadersMs: timers.earlyHeadersMs,
  onBroken: (requestId, err) => {
    counts.failed(err)
    log.warn({ requestId, code: err.code, err }, 'a stream broke')
  },
  crashAt,
})
