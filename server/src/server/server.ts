import type { Logger } from 'pino'
import { createAutomation, createMessageRuns } from './automation'
import { createCatalog } from './catalog'
import { createDashboardFiles } from './dashboard'
import { startAuditDelivery } from './audit-destinations'
import { startEventDelivery } from './destinations'
import { createGatewayServices, type GatewayServices } from './gateway'
import { createMaintenance } from '../jobs/maintenance'
import { openPartitions } from '../booking/partitions'
import { stopOf } from './shutdown'
import { createFirstAccount, type FirstAccount } from './first-account'
import { createPayments } from './payments'
import { createReadiness } from './readiness'
import { createNotices } from './notices'
import { createStorage, type Storage } from './storage'
import { scimPorts } from './scim'
import { createSignInService, type SignInService } from './sign-in'
import { createApiStores } from './api-stores'
import { createTelemetry } from './telemetry'
import { createSettings, liveTimers } from './settings'
import { createLoadShedding } from './load'
import type { LauncherLink } from './workers/launcher-link'
import { createApp } from './app/app'
import { createFront } from './app/front'
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
import type { MetricsSnapshot } from '../telemetry/metrics-snapshot'
import { createTrail } from '../audit-log/operator-trail'
import { createResponsePorts } from './responses'
import type { ReplyPorts } from '../v1/reply'
import type { ResponsePorts } from '../v1/responses'

/** The longest wait for the answer of a near database to a question about readiness. */
const maxPingMs = 1000

/** A running server. */
export interface RunningServer {
  /** The address of the server for callers, without a final slash. */
  address: string
  port: number
  catalog: Catalog
  storage: Storage
  firstAccount: FirstAccount
  signIn: Pick<SignInService, 'linkFor'>
  /** The number of running requests; a stream counts until its last byte. */
  running: () => number
  /** Returns the state of this process: its metrics as text, if a port is set for metrics, and whether it is ready. */
  metrics: () => Promise<string | undefined>
  readiness: Readiness
  /**
   * Shuts down gracefully: reports not ready, then accepts no new requests and lets the running ones finish, then
   * closes everything. Further calls return the same shutdown. `hurry` is for a process in an unreliable state: it
   * accepts nothing from now on, and its requests get that long.
   */
  stop: (hurry?: { drainMs: number }) => Promise<void>
}

interface Options {
  log: Logger
  logFigures: () => Pick<MetricsSnapshot, 'droppedLogLines'>
  /** Set in a worker. */
  launcher?: LauncherLink | undefined
  /** Called when the process cannot continue. */
  onLost: (reason: string) => void
}

/** Creates all services and serves. Throws `StartError`. */
export async function startServer(config: Config, options: Options): Promise<RunningServer> {
  // A failure disposes of everything that was created before it.
  await using disposables = new AsyncDisposableStack()
  const { log, launcher, logFigures } = options
  const crashAt = config.crashAt && createCrasher(config.crashAt)
  const storage = await createStorage(config, disposables, {
    log: (line) => log.info(line),
    onLost: options.onLost,
    onError: (err) => log.warn({ err }, 'a database connection was lost'),
  })
  const stored = { config, storage, log }
  await openPartitions(stored)
  const { catalog, discoverLocalServers } = await createCatalog(stored, disposables)
  const settings = await createSettings(stored, disposables)
  const timers = liveTimers(config.timers, settings)
  const watch = disposables.use(new StreamWatch(config.timers))
  const notices = createNotices({ config, settings, storage, log }, disposables)
  const messages = createMessageRuns(stored, disposables)
  const telemetry = await createTelemetry({ config, catalog, log }, disposables)
  const shared = { config, timers, settings, storage, catalog, log, crashAt, notices, launcher }
  const dependencies = { ...shared, telemetry, runs: messages.runs }
  const services = await createGatewayServices(dependencies, disposables)
  const { claims, drains, sockets } = services
  // Set once the server listens.
  const address = { here: config.baseUrl ?? '' }
  const ports = { ...dependencies, address: () => address.here }
  const payments = await createPayments(ports, services, disposables)
  const state = { isStopping: false }
  const stores = createApiStores({ ...ports, payments }, services)
  const signIn = createSignInService(dependencies, services, ports.address)
  const readiness = readinessFor(dependencies, services, state)
  const responses = createResponsePorts(dependencies, disposables)
  const assembled = { services, stores, signIn, messages, watch, readiness, responses }
  const app = assemble(dependencies, { ...assembled, address: ports.address })
  const firstAccount = await firstAccountOf(config, storage)
  const shedding = { ...dependencies, ...services, streams: () => watch.size }
  const load = await createLoadShedding(shedding, disposables)
  const front = createFront(app, { ...telemetry, ...load, sockets, state })
  const http = listenFor(front, dependencies, sockets)
  const port = http.port ?? config.port
  address.here = config.baseUrl ?? getLocalUrl(config.host, port)
  const jobs = startJobs({ ...dependencies, egress: services.egress, logFigures }, disposables)
  discoverLocalServers(port)
  const figures = () => ({ ...services.figures(), ...state, ...load.figures(), ...jobs.figures() })
  const metrics = await telemetry.listen({ figures, readiness }, disposables)
  const facts = { address: address.here, port, catalog, storage, firstAccount, signIn }
  const owned = disposables.move()
  const endAll = () => {
    watch.endAll(unavailable())
    services.endAll(unavailable())
    messages.runs.haltAll(unavailable())
  }
  const stop = stopOf({
    running: { http, claims, background: responses.runs, drains, sockets, endAll },
    state,
    timers: config.timers,
    close: () => owned.disposeAsync(),
  })
  return { ...facts, running: () => http.pendingRequests, metrics, readiness, stop }
}

const firstAccountOf = ({ firstCredit }: Config, { database, sharedDir }: Storage) =>
  createFirstAccount(database.query, { dataDir: sharedDir, credit: firstCredit })

type Dependencies = Parameters<typeof createGatewayServices>[0]

/** Opens the port, for requests and for the sockets of self-hosted gateways. */
const listenFor = (
  front: ReturnType<typeof createFront>,
  { config }: Pick<Dependencies, 'config'>,
  sockets: Sockets,
) =>
  listen(front, {
    config,
    newRequestId: () => newId('req'),
    websocket: sockets.handlers,
  })

/** Starts the audit of the ledger, the purge of old rows and the deliveries. `figures` reads theirs, and those of the log. */
function startJobs(
  dependencies: Dependencies & Pick<GatewayServices, 'egress'> & Pick<Options, 'logFigures'>,
  disposables: AsyncDisposableStack,
): { figures: () => Pick<MetricsSnapshot, 'auditDelivery' | 'droppedLogLines'> } {
  const { config, settings, storage, log, telemetry, egress, logFigures } = dependencies
  const maintenance = createMaintenance({
    storage,
    log,
    auditEveryMs: config.auditEveryMs,
    retentionDays: () => settings.current.retentionDays,
    onAudited: (violations) => telemetry.audits.countRun(violations),
  })
  disposables.defer(() => maintenance.stop())
  startEventDelivery({ storage, log, egress }, disposables)
  const auditDelivery = startAuditDelivery({ storage, log, egress }, disposables)
  return { figures: () => ({ ...logFigures(), auditDelivery: auditDelivery() }) }
}

interface Assembled {
  services: GatewayServices
  stores: ReturnType<typeof createApiStores>
  signIn: SignInService
  /** Returns the public address of the service. */
  address: () => string
  messages: ReturnType<typeof createMessageRuns>
  watch: StreamWatch
  readiness: Readiness
  responses: ResponsePorts
}

const readinessFor = (
  { storage, timers }: Pick<Dependencies, 'storage' | 'timers'>,
  { isJournalWritable }: Pick<GatewayServices, 'isJournalWritable'>,
  state: { readonly isStopping: boolean },
) =>
  createReadiness({
    ping: () => storage.database.probe(),
    answerMs: () => storage.database.liveness.timeoutFor(maxPingMs),
    isJournalWritable,
    state,
    graceMs: timers.databaseGraceMs,
  })

/** Assembles the application from the created services. */
function assemble(
  { config, timers, storage, catalog, log, crashAt, telemetry }: Dependencies,
  { services, stores, signIn, address, messages, watch, readiness, responses }: Assembled,
) {
  const { gateway, authenticator, claims, lookUps } = services
  const { adminKey } = storage.installation
  return createApp({
    gateway,
    catalog,
    collectionsFor: lookUps.collectionsFor,
    modelsFor: lookUps.modelsFor,
    guards: createGuards({
      authenticator,
      adminKey,
      sessions: signIn,
      trail: createTrail(storage.database.query),
    }),
    signIn,
    scim: scimPorts(storage, services, address),
    dashboard: createDashboardFiles(),
    responses,
    reply: replyPorts(timers, { watch, claims, log, crashAt, counts: telemetry.witness.counts }),
    readiness,
    stores,
    automation: createAutomation(
      { config, timers, storage, log },
      { lookUps, gateways: services, messages, logs: services.logs },
    ),
    witness: telemetry.witness,
  })
}

interface Answering {
  watch: StreamWatch
  claims: Claims
  log: Logger
  crashAt: CrashAt | undefined
  counts: Pick<RequestObserver['counts'], 'countError'>
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
    counts.countError(err)
    log.warn({ requestId, code: err.code, err }, 'a stream failed')
  },
  crashAt,
})
