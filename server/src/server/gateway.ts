import type { Logger } from 'pino'
import { openClaims } from './idempotency'
import { openLogs } from './logs'
import { openMoney, type Money } from './money'
import { openSockets, type OpenedSockets } from './gateways'
import { openRouting, type RoutingLookUps } from './routing'
import type { Notices } from './notices'
import type { Storage } from './storage'
import { ownState } from './system'
import { readMetricsSnapshot, type Telemetry } from './telemetry'
import { openWaysOut } from './egress'
import type { OwnState } from '../api/operator/system/store'
import { ApiKeyCache } from '../auth/api-key-cache'
import { LastUsedRecorder, findApiKeyIn } from '../auth/find-api-key'
import type { AccountCatalogs } from '../catalog/account-catalog'
import type { Runs } from '../automation/message-runs'
import { endedChannel as sessionChannel, haltedChannel } from '../automation/sessions'
import type { Catalog } from '../catalog/catalog'
import { StartError, type Config, type Timers } from '../platform/config/config'
import type { CrashAt } from '../platform/crash-points'
import { Listener } from '../platform/db/listener'
import type { Egress } from '../upstream/http/egress'
import type { GuardedEgress } from '../upstream/http/guarded-egress'
import { createGateway, type Gateway } from '../gateway/gateway'
import { UsageDrainPool } from '../gateway/usage-drain-pool'
import { imageLimits } from '../gateway/remote-images'
import { FetchPlaces } from '../gateway/fetch-places'
import type { Claims } from '../idempotency/claims'
import { endChannel } from '../idempotency/store'
import { TokenCounter } from '../metering/token-counter'
import { AddressRate } from '../limits/address-rate'
import { ConnectionRates } from '../limits/connection-rates'
import type { Counters } from '../limits/counters'
import { Authenticator } from '../auth/authenticator'
import { FailedAuthentications } from '../limits/failed-authentications'
import { RateLimits } from '../limits/limits'
import { MemoryCounters } from '../limits/memory-counters'
import { OwnerBudget } from '../limits/owner-budget'
import { SharedCounters } from '../limits/shared-counters'
import { UnknownKeyLimiter } from '../limits/unknown-key-limiter'
import type { Credentials } from '../providers/credentials'
import type { Deadline } from '../upstream/deadline'
import { ConversationAffinity } from '../routing/conversation'
import { PoolTurns } from '../routing/pool-turns'
import type { LiveSettings } from '../platform/settings/live-settings'
import { withTimeout } from '../platform/with-timeout'

/** The number of upstream answers that are read to their end for their usage after the client disconnected. */
const maxDrains = 32
const drainMs = 30_000

/** Limits of concurrent image downloads, for providers that do not download: in the process and for one account. */
const fetches = { most: 32, mostOfOwner: 8 }

interface Parts {
  config: Config
  /** As currently set by operators. */
  timers: Timers
  settings: LiveSettings
  storage: Storage
  catalog: Catalog
  log: Logger
  crashAt: CrashAt | undefined
  /** Messages of sessions that run on this node. */
  runs: Pick<Runs, 'cancel' | 'halt'>
  notices: Notices
  telemetry: Telemetry
}

/** The gateway, and other services built from its dependencies. */
export interface OpenedGateway extends OpenedSockets {
  gateway: Gateway
  door: Authenticator
  egress: Egress
  credentials: Credentials
  /** Checks addresses that customers set. */
  guarded: Pick<GuardedEgress, 'check'>
  accounts: AccountCatalogs
  lookUps: RoutingLookUps
  claims: Claims
  drains: UsageDrainPool
  /** Called when this node has added credit to an account. */
  creditCame: (accountId: string) => void
  /** Whether usage can be written to disk. Never rejects. */
  isJournalWritable: () => Promise<boolean>
  /** Writes the logs of recently ended requests before they are read; waits briefly, and never rejects. */
  logsWritten: () => Promise<void>
  /** Removes a key from the cache, by the hash of its secret. */
  forgetKey: (hash: string) => void
  limits: RateLimits
  budget: OwnerBudget
  counter: TokenCounter
  routing: ReturnType<typeof openRouting>['routing']
  /** Returns the state of this process. */
  own: () => OwnState
  figures: () => ReturnType<typeof readMetricsSnapshot>
  /** Ends all running requests. */
  endAll: (reason: Error) => void
}

/** Opens the services that a request passes: keys, limits, credit, egress. Throws `StartError`. */
export async function openGateway(
  parts: Parts,
  stack: AsyncDisposableStack,
): Promise<OpenedGateway> {
  const { config, storage, catalog, timers, settings, log } = parts
  const keyring = new ApiKeyCache({ lookUp: findApiKeyIn(storage.database) })
  const names = openRouting(parts, stack)
  const money = await openMoney(parts, stack)
  const claims = openClaims(parts, stack)
  const { logs, writer } = openLogs(parts, stack)
  const doorway = openDoor({ ...parts, keyring }, stack)
  const hosted = openSockets({ ...parts, ...doorway, changed: names.forget }, stack)
  const { gateways, elsewhere } = hosted
  await listenForChanges({ ...parts, keyring, names, money, claims, hosted }, stack)
  const waysOut = openWaysOut({ ...parts, gateways })
  const { guarded, resilience } = waysOut
  const budget = stack.use(new OwnerBudget({ share: config.ownerShare }))
  const running = new Set<Deadline>()
  const drains = new UsageDrainPool({ max: maxDrains, lifeMs: drainMs })
  const bounds = { counter: stack.use(openTokenCounter(log)), budget, drains }
  const sources = { money, resilience, keyring, logs, drains, storage, elsewhere }
  const told = { ...names.routing, ...doorway, ...sources }
  return {
    gateway: createGateway({
      ...doorway,
      ...waysOut,
      gateways,
      months: money.months,
      logs,
      metering: money.metering,
      catalog,
      routing: names.routing,
      turns: new PoolTurns(),
      affinity: new ConversationAffinity({ isAlone: money.isAlone }),
      settings,
      // Addresses that callers name are guarded: they never count as the operator's own.
      images: { way: guarded, places: new FetchPlaces(fetches), limits: imageLimits },
      timers,
      running,
      ...bounds,
    }),
    ...bounds,
    ...doorway,
    ...waysOut,
    ...hosted,
    accounts: names.routing.accounts,
    lookUps: names.lookUps,
    claims,
    creditCame: money.creditCame,
    isJournalWritable: money.isJournalWritable,
    logsWritten: () => soon([money.catchUp(), writer.flush()]),
    forgetKey: (hash) => keyring.forgetKey(hash),
    routing: names.routing,
    own: () => ownState(told),
    figures: () => readMetricsSnapshot(told),
    endAll: (reason) => {
      for (const deadline of running) deadline.cancel(reason)
    },
  }
}

const openTokenCounter = (log: Logger) =>
  new TokenCounter({ onFailure: (err) => log.warn({ err }, 'tokens could not be counted') })

const logsMs = 1000

/** Waits briefly for pending writes: other nodes write theirs within a quarter of a second. */
const soon = async (writing: readonly Promise<void>[]): Promise<void> => {
  await withTimeout(Promise.all(writing), logsMs).catch(() => undefined)
}

/** Opens authentication and rate limits. */
function openDoor(
  { config, settings, storage, keyring, log }: Parts & { keyring: ApiKeyCache },
  stack: AsyncDisposableStack,
) {
  const lastUse = stack.use(
    new LastUsedRecorder(storage.database.query, (err) =>
      log.warn({ err }, 'the last use of keys could not be noted'),
    ),
  )
  const counters = openCounters(config, log, stack)
  const limits = new RateLimits(counters)
  const failures = new FailedAuthentications({
    perMinute: () => settings.current.rates.failedAuthenticationsPerMinute,
  })
  const rates = () => settings.current.rates
  const strangers = new UnknownKeyLimiter()
  const visitors = new AddressRate({ perMinute: () => rates().publicRequestsPerMinute })
  const apiPerMinute = () => rates().apiRequestsPerMinute
  return {
    counters,
    failures,
    limits,
    connectionRates: new ConnectionRates(counters),
    door: new Authenticator({
      keyring,
      failures,
      strangers,
      limits,
      lastUse,
      visitors,
      apiPerMinute,
    }),
  }
}

/** Opens the counters of limits, for this process or for all that share a Redis, which may fail and recover. */
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

/** Services that cache rows in memory. */
interface Caches {
  keyring: ApiKeyCache
  names: ReturnType<typeof openRouting>
  money: Money
  claims: Claims
  hosted: OpenedSockets
}

/** Invalidates cached rows after changes on other nodes, or by hand. */
async function listenForChanges(parts: Parts & Caches, stack: AsyncDisposableStack): Promise<void> {
  const { storage, catalog, keyring, names, money, claims, hosted, runs, settings, log } = parts
  const { sockets } = hosted
  const listener = stack.use(
    new Listener({
      connect: () => storage.database.client(),
      subscriptions: {
        tollgate_key: (hash) => keyring.forgetKey(hash),
        tollgate_user: (userId) => {
          keyring.forgetUser(userId)
          names.forget(userId)
          sockets.ownerChanged(userId)
        },
        tollgate_plan: () => {
          keyring.distrust()
          // Organizations have plans too.
          names.onGap()
        },
        tollgate_config: () => settings.refresh(),
        tollgate_catalog: () => catalog.refreshSoon(),
        [endChannel]: (name) => claims.ended(name),
        [sessionChannel]: (sessionId) => runs.cancel(sessionId),
        [haltedChannel]: (sessionId) => runs.halt(sessionId),
        ...names.subscriptions,
        ...money.subscriptions,
        tollgate_owner: (ownerId) => {
          names.forget(ownerId)
          sockets.ownerChanged(ownerId)
        },
        tollgate_gateway: (payload) => hosted.heard(payload),
      },
      onGap: () => {
        keyring.distrust()
        names.onGap()
        catalog.refreshSoon()
        claims.mayHaveEnded()
        settings.refresh()
        money.onGap()
        hosted.onGap()
      },
      onError: (err) => log.warn({ err }, 'the listening connection broke; connecting again'),
    }),
  )
  try {
    await listener.start()
    // Covers changes between the first read and the subscription.
    money.onGap()
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : 'unknown error'
    throw new StartError(`The database takes no listening connection: ${why}.`, { cause })
  }
}
