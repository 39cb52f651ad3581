import type { Logger } from 'pino'
import { openAutomation, openRuns } from './automation'
import { openCatalog } from './catalog'
import { dashboardFiles } from './dashboard'
import { openGateway, type OpenedGateway } from './gateway'
import { openJobs, openPartitions } from './jobs'
import { openFirstAccount, type FirstAccount } from './first-account'
import { openPayments } from './payments'
import { openNotices } from './notices'
import { openStorage, type Storage } from './storage'
import { openSignIn, type OpenedSignIn } from './sign-in'
import { openStores } from './stores'
import { openSettings, liveTimers } from './settings'
import { createUserStore } from '../api/admin-users/store'
import { createApp } from '../app'
import { createFront } from '../app/front'
import type { Catalog } from '../catalog/catalog'
import type { Config, Timers } from '../config'
import { crasher, type CrashAt } from '../crash-points'
import { newId } from '../db/id'
import { unavailable } from '../errors'
import type { Drains } from '../gateway/drains'
import { StreamWatch } from '../http/event-stream'
import { createGuards } from '../http/guards'
import { listen } from '../http/listen'
import type { Claims } from '../idempotency/claims'
import { createTrail } from '../trail/trail'
import type { ReplyPorts } from '../v1/reply'

/** A server that is up. */
export interface RunningServer {
  /** Where callers find it, without a final slash. */
  address: string
  catalog: Catalog
  storage: Storage
  firstAccount: FirstAccount
  signIn: Pick<OpenedSignIn, 'linkFor'>
  /** Takes no new requests and lets the running ones end, then closes everything. Once. */
  stop: () => Promise<void>
}

interface Options {
  log: Logger
  /** The process cannot go on. */
  onLost: (reason: string) => void
}

/** Opens what is needed and serves. Throws `StartError`. */
export async function startServer(config: Config, options: Options): Promise<RunningServer> {
  // Whatever fails half-way closes what was opened before it.
  await using opening = new AsyncDisposableStack()
  const { log } = options
  const crashAt = config.crashAt && crasher(config.crashAt)
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
  const { runs } = talks
  const parts = { config, timers, settings, storage, catalog, log, crashAt, notices, runs }
  const opened = await openGateway(parts, opening)
  const { claims, drains, endAll } = opened
  const payments = await openPayments(parts, opened, opening)
  const state = { isStopping: false }
  // Known once the server listens.
  const address = { here: config.baseUrl ?? '' }
  const stores = openStores({ ...parts, payments, address: () => address.here }, opened)
  const signIn = openSignIn(parts, () => address.here)
  const app = assemble(parts, { opened, stores, signIn, talks, watch, state })
  const firstAccount = await openFirstAccount(
    storage.database.query,
    createUserStore(storage.database.query),
    {
      dataDir: storage.dataDir,
      credit: config.firstCredit,
    },
  )
  const http = listen(createFront(app, log), config, () => newId('req'))
  address.here = config.baseUrl ?? `http://${reachable(config.host)}:${http.port}`
  opening.use(openJobs({ config, settings, storage, log }))
  opening.use(lookForLocalServers(http.port ?? config.port))

  const open = opening.move()
  return {
    address: address.here,
    catalog,
    storage,
    firstAccount,
    signIn,
    stop: async () => {
      state.isStopping = true
      await drain({ http, claims, drains }, config.timers.drainMs, () => {
        watch.endAll(unavailable())
        endAll(unavailable())
      })
      await open.disposeAsync()
    },
  }
}

type Parts = Parameters<typeof openGateway>[0]

interface Assembled {
  opened: OpenedGateway
  stores: ReturnType<typeof openStores>
  signIn: OpenedSignIn
  talks: ReturnType<typeof openRuns>
  watch: StreamWatch
  state: { readonly isStopping: boolean }
}

/** The application out of what is open. */
function assemble(
  { timers, storage, catalog, log, crashAt }: Parts,
  { opened, stores, signIn, talks, watch, state }: Assembled,
) {
  const { gateway, door, claims, accounts, lookUps } = opened
  const { adminKey } = storage.installation
  return createApp({
    gateway,
    catalog,
    accounts,
    collectionsFor: lookUps.collectionsFor,
    guards: createGuards({
      door,
      adminKey,
      sessions: signIn,
      trail: createTrail(storage.database.query),
    }),
    signIn,
    dashboard: dashboardFiles(),
    reply: replyPorts(timers, { watch, claims, log, crashAt }),
    readiness: async () => ({
      database: await answersSoon(storage),
      running: !state.isStopping,
    }),
    stores,
    automation: openAutomation({ storage, log }, { lookUps, talks }),
    log,
  })
}

interface Answering {
  watch: StreamWatch
  claims: Claims
  log: Logger
  crashAt: CrashAt | undefined
}

const replyPorts = (timers: Timers, { watch, claims, log, crashAt }: Answering): ReplyPorts => ({
  watch,
  claims,
  get requestMs() {
    return timers.requestMs
  },
  earlyHeadersMs: timers.earlyHeadersMs,
  onBroken: (requestId, code, err) => log.warn({ requestId, code, err }, 'a stream broke'),
  crashAt,
})

/** The host of a URL that leads to a socket bound to `host`, from this machine. */
function reachable(host: string): string {
  if (['127.0.0.1', '::1', '0.0.0.0', '::'].includes(host)) return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}

const mostCuttingMs = 5000

interface Running {
  http: Bun.Server<undefined>
  claims: Claims
  drains: Drains
}

/** Lets running requests end by themselves; after `drainMs` by `endAll`, at last by their sockets. */
async function drain({ http, claims, drains }: Running, drainMs: number, endAll: () => void) {
  const ending = setTimeout(endAll, drainMs)
  const cutting = setTimeout(() => void http.stop(true), drainMs + mostCuttingMs)
  await Promise.race([http.stop(), answered(http)])
  // Those whose callers have left, but may ask again.
  await Promise.race([claims.idle(), Bun.sleep(drainMs + mostCuttingMs)])
  clearTimeout(ending)
  clearTimeout(cutting)
  // Answers that nobody waits for are no reason to stay.
  await Promise.race([drains.close(), Bun.sleep(mostCuttingMs)])
  void http.stop(true)
}

const lookEveryMs = 50
/** Looks in a row: an answer that is on its way counts as pending until its caller has taken it. */
const looksInARow = 5

/**
 * Resolves once nobody waits for an answer. The runtime's own stop waits for connections besides, also
 * for those of answered requests whose bodies never come to their end.
 */
async function answered(http: Bun.Server<undefined>): Promise<void> {
  for (let looks = 0; looks < looksInARow;) {
    await Bun.sleep(lookEveryMs)
    looks = http.pendingRequests === 0 ? looks + 1 : 0
  }
}

const readinessMs = 1000

const answersSoon = ({ database }: Storage) =>
  Promise.race([
    database.ping().then(
      () => true,
      () => false,
    ),
    Bun.sleep(readinessMs).then(() => false),
  ])
