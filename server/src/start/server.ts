import type { Logger } from 'pino'
import { openCatalog } from './catalog'
import { openFirstAccount, type FirstAccount } from './first-account'
import { openStorage, type Storage } from './storage'
import { createConnectionStore } from '../api/admin-connections/store'
import { createModelStore } from '../api/admin-models/store'
import { createPlanStore } from '../api/admin-plans/store'
import { createProviderStore } from '../api/admin-providers/store'
import { createUserStore } from '../api/admin-users/store'
import { createApp } from '../app'
import { Keyring } from '../auth/keyring'
import { LastUse, lookUpIn } from '../auth/look-up'
import type { Catalog } from '../catalog/catalog'
import { StartError, type Config } from '../config'
import { newId } from '../db/id'
import { Listener } from '../db/listener'
import { Egress } from '../egress/egress'
import { unavailable } from '../errors'
import { createGateway } from '../gateway'
import { StreamWatch } from '../http/event-stream'
import { createGuards } from '../http/guards'
import { listen } from '../http/listen'
import { TokenCounter } from '../metering/token-counter'
import type { Counters } from '../policy/counters'
import { Door } from '../policy/door'
import { FailedAuthentications } from '../policy/failed-authentications'
import { Limits } from '../policy/limits'
import { MemoryCounters } from '../policy/memory-counters'
import { SharedCounters } from '../policy/shared-counters'
import { probe } from '../routing/probe'

/** A server that is up. */
export interface RunningServer {
  /** Where callers find it, without a final slash. */
  address: string
  catalog: Catalog
  storage: Storage
  firstAccount: FirstAccount
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
  const storage = await openStorage(config, opening, {
    log: (line) => log.info(line),
    onLost: options.onLost,
    onError: (err) => log.warn({ err }, 'a database connection broke'),
  })
  const { query } = storage.database
  const { catalog, lookForLocalServers } = await openCatalog(config, storage, log)
  opening.use(catalog)
  const keyring = new Keyring({ lookUp: lookUpIn(query) })
  await listenForChanges({ storage, catalog, keyring, log }, opening)
  const watch = opening.use(new StreamWatch(config.timers))
  const egress = new Egress(config.timers.connectMs)
  const { door, limits } = openDoor({ storage, catalog, keyring, log }, config, opening)
  const counter = opening.use(
    new TokenCounter({ onFailure: (err) => log.warn({ err }, 'tokens could not be counted') }),
  )
  const { timers } = config
  const gateway = createGateway({ door, limits, catalog, egress, counter, timers })
  const users = createUserStore(query)
  const state = { isStopping: false }
  const app = createApp({
    gateway,
    catalog,
    guards: createGuards(door, storage.installation.adminKey),
    reply: {
      watch,
      earlyHeadersMs: config.timers.earlyHeadersMs,
      onBroken: (requestId, code, err) => log.warn({ requestId, code, err }, 'a stream broke'),
    },
    readiness: async () => ({
      database: await answersSoon(storage),
      running: !state.isStopping,
    }),
    stores: { users, ...openStores(storage, catalog, egress) },
    log,
  })
  const firstAccount = await openFirstAccount(query, users, storage.dataDir)
  const http = listen(app, config, () => newId('req'))
  opening.use(lookForLocalServers(http.port ?? config.port))

  const open = opening.move()
  return {
    address: config.baseUrl ?? `http://${reachable(config.host)}:${http.port}`,
    catalog,
    storage,
    firstAccount,
    stop: async () => {
      state.isStopping = true
      await drain(http, watch, config.timers.drainMs)
      await open.disposeAsync()
    },
  }
}

/** The host of a URL that leads to a socket bound to `host`, from this machine. */
function reachable(host: string): string {
  if (['127.0.0.1', '::1', '0.0.0.0', '::'].includes(host)) return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}

/** Lets running requests end; streams that take too long get an error frame, then the socket ends. */
async function drain(http: Bun.Server<undefined>, watch: StreamWatch, drainMs: number) {
  const ending = setTimeout(() => watch.endAll(unavailable()), drainMs)
  const cutting = setTimeout(() => void http.stop(true), drainMs + 5000)
  await http.stop()
  clearTimeout(ending)
  clearTimeout(cutting)
}

/** Who may come in, and how much of it. */
function openDoor({ storage, keyring, log }: Caches, config: Config, stack: AsyncDisposableStack) {
  const lastUse = stack.use(
    new LastUse(storage.database.query, (err) =>
      log.warn({ err }, 'the last use of keys could not be noted'),
    ),
  )
  const limits = new Limits(openCounters(config, log, stack))
  const failures = new FailedAuthentications({ perMinute: config.failedAuthenticationsPerMinute })
  return { limits, door: new Door({ keyring, failures, limits, lastUse }) }
}

/** Limits hold for this process, or for all that share a Redis; it may come and go. */
function openCounters({ redisUrl }: Config, log: Logger, stack: AsyncDisposableStack): Counters {
  if (redisUrl === undefined) return new MemoryCounters()
  return stack.use(
    new SharedCounters({
      url: redisUrl,
      onError: (err) => log.warn({ err }, 'Redis is away: this node keeps to its share of limits'),
      onBack: () => log.info('Redis is back: limits are shared again'),
    }),
  )
}

const openStores = ({ database, installation }: Storage, catalog: Catalog, egress: Egress) => ({
  plans: createPlanStore(database.query),
  providers: createProviderStore(database.query, catalog),
  models: createModelStore(database.query, catalog),
  connections: createConnectionStore({
    db: database.query,
    catalog,
    encryptionKey: installation.encryptionKey,
    ask: (provider, connection) => probe(egress, provider, connection),
  }),
})

const readinessMs = 1000

const answersSoon = ({ database }: Storage) =>
  Promise.race([
    database.ping().then(
      () => true,
      () => false,
    ),
    Bun.sleep(readinessMs).then(() => false),
  ])

interface Caches {
  storage: Storage
  catalog: Catalog
  keyring: Keyring
  log: Logger
}

/** Changes made on other nodes, or by hand, reach what is kept in memory here. */
async function listenForChanges(
  { storage, catalog, keyring, log }: Caches,
  stack: AsyncDisposableStack,
): Promise<void> {
  const listener = stack.use(
    new Listener({
      connect: () => storage.database.client(),
      subscriptions: {
        tollgate_key: (hash) => keyring.forgetKey(hash),
        tollgate_user: (userId) => keyring.forgetUser(userId),
        tollgate_plan: () => keyring.distrust(),
        tollgate_catalog: () => catalog.refreshSoon(),
      },
      onGap: () => {
        keyring.distrust()
        catalog.refreshSoon()
      },
      onError: (err) => log.warn({ err }, 'the listening connection broke; connecting again'),
    }),
  )
  try {
    await listener.start()
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : 'unknown error'
    throw new StartError(`The database takes no listening connection: ${why}.`, { cause })
  }
}
