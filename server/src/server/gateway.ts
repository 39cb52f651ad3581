import type { Logger } from 'pino'
import { createClaims } from './idempotency'
import { createCounters } from './limit-counters'
import { listenForChanges } from './listen-for-changes'
import type { LogStores } from './log-store'
import { createRequestLogs } from './logs'
import { createMoney } from './money'
import { createTunnelServices, type TunnelServices } from './gateways'
import { createRouting, type RoutingLookUps } from './routing'
import type { Notices } from './notices'
import type { Storage } from './storage'
import { ownState } from './system'
import type { LauncherLink } from './workers/launcher-link'
import { readMetricsSnapshot, type Telemetry } from './telemetry'
import { createUpstreamServices } from './egress'
import type { OwnState } from '../api/operator/system/store'
import type { SessionLogs } from '../automation/refusal-log'
import { ApiKeyCache } from '../auth/api-key-cache'
import { LastUsedRecorder, findApiKeyIn } from '../auth/find-api-key'
import type { AccountCatalogs } from '../catalog/account-catalog'
import type { Runs } from '../automation/message-runs'
import type { Catalog } from '../catalog/catalog'
import type { Config, Timers } from '../platform/config/config'
import { runApart } from '../platform/db/background-work'
import type { CrashAt } from '../platform/crash-points'
import type { Egress } from '../upstream/http/egress'
import type { GuardedEgress } from '../upstream/http/guarded-egress'
import { createGateway, type Gateway } from '../gateway/gateway'
import { UsageDrainPool } from '../gateway/usage-drain-pool'
import { imageLimits } from '../gateway/image-fetch'
import { FetchSlots } from '../gateway/fetch-slots'
import type { Claims } from '../idempotency/claims'
import { CloserBounds } from '../metering/closer-bounds'
import { TokenCounter } from '../metering/token-counter'
import { AddressRate } from '../limits/address-rate'
import { ConnectionRates } from '../limits/connection-rates'
import { Authenticator } from '../auth/authenticator'
import { FailedAuthentications } from '../limits/failed-authentications'
import { RateLimits } from '../limits/limits'
import { EventLoopShares } from '../limits/event-loop-shares'
import { UnknownKeyLimiter } from '../limits/unknown-key-limiter'
import type { Credentials } from '../providers/credentials'
import type { Deadline } from '../upstream/deadline'
import { LargeEvents } from '../upstream/large-events'
import { probe } from '../upstream/probe'
import { ProviderLists } from '../upstream/provider-lists'
import { ConversationAffinity } from '../routing/conversation'
import { PoolRotation } from '../routing/pool-rotation'
import type { LiveSettings } from '../platform/settings/live-settings'
import { withTimeout } from '../platform/with-timeout'

/** The number of upstream answers that are read to their end for their usage after the client disconnected. */
const maxDrains = 32
const drainMs = 30_000

/** Limits of concurrent image downloads, for providers that do not download: in the process and for one account. */
const fetches = { max: 32, maxPerOwner: 8 }

interface Dependencies {
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
  /** Set in a worker. */
  launcher: LauncherLink | undefined
}

/** The gateway, and other services built from its dependencies. */
export interface GatewayServices extends TunnelServices, LogStores {
  gateway: Gateway
  authenticator: Authenticator
  egress: Egress
  credentials: Credentials
  /** Checks addresses that customers set. */
  guarded: Pick<GuardedEgress, 'check' | 'checkCall' | 'checkStream'>
  accounts: AccountCatalogs
  lookUps: RoutingLookUps
  claims: Claims
  drains: UsageDrainPool
  /** Called when this node has added credit to an account. */
  onCreditAdded: (accountId: string) => void
  /** Whether usage can be written to disk. Never rejects. */
  isJournalWritable: () => Promise<boolean>
  /** Begins the logs of requests. */
  logs: SessionLogs
  /** Writes the logs of recently ended requests before they are read; waits briefly, and never rejects. */
  logsWritten: () => Promise<void>
  /** Removes a key from the cache, by the hash of its secret. */
  invalidateKey: (hash: string) => void
  /** Removes the keys of an account from the cache. */
  invalidateKeysOf: (userId: string) => void
  limits: RateLimits
  loopShares: EventLoopShares
  counter: TokenCounter
  routing: Awaited<ReturnType<typeof createRouting>>['routing']
  /** Returns the state of this process. */
  own: () => OwnState
  figures: () => ReturnType<typeof readMetricsSnapshot>
  /** Ends all running requests. */
  endAll: (reason: Error) => void
}

/** Creates the services that a request passes: keys, limits, credit, egress. Throws `StartError`. */
export async function createGatewayServices(
  dependencies: Dependencies,
  disposables: AsyncDisposableStack,
): Promise<GatewayServices> {
  const { storage, catalog, timers, settings } = dependencies
  const apiKeys = new ApiKeyCache({ lookUp: findApiKeyIn(storage.database) })
  const providerLists: ProviderLists = createProviderLists(() => upstreams)
  const names = await createRouting({ ...dependencies, providerLists }, disposables)
  const money = await createMoney(dependencies, disposables)
  const claims = createClaims(dependencies, disposables)
  const { writer, ...logServices } = await createRequestLogs(dependencies, disposables)
  const authentication = await createAuthentication({ ...dependencies, apiKeys }, disposables)
  const connected = { ...dependencies, ...authentication, changed: names.invalidate }
  const tunnels = await createTunnelServices(connected, disposables)
  const { gateways, remoteRelay } = tunnels
  const caches = { apiKeys, names, money, claims, tunnels, counters: authentication }
  await listenForChanges({ ...dependencies, ...caches }, disposables)
  const upstreams = await createUpstreamServices({ ...dependencies, gateways })
  const { guarded, resilience } = upstreams
  const deadlines = new Set<Deadline>()
  const bounds = createBounds(dependencies, disposables)
  const sources = { money, resilience, apiKeys, storage, remoteRelay, ...logServices }
  const observedParts = { ...names.routing, ...authentication, ...bounds, ...sources }
  return {
    gateway: createGateway({
      ...authentication,
      ...upstreams,
      gateways,
      spendingLimits: money.spendingLimits,
      logs: logServices.logs,
      metering: money.metering,
      catalog,
      routing: names.routing,
      rotation: new PoolRotation(),
      affinity: new ConversationAffinity({ isAlone: money.isAlone }),
      settings,
      // Addresses that callers name are guarded: they never count as the operator's own.
      images: { transport: guarded, slots: new FetchSlots(fetches), limits: imageLimits },
      timers,
      deadlines,
      ...bounds,
    }),
    ...bounds,
    ...authentication,
    ...upstreams,
    ...tunnels,
    ...logServices,
    accounts: names.routing.accounts,
    lookUps: names.lookUps,
    claims,
    onCreditAdded: money.onCreditAdded,
    isJournalWritable: money.isJournalWritable,
    logsWritten: () => runApart(() => soon([money.catchUp(), writer.flush()])),
    ...invalidationsOf(apiKeys),
    routing: names.routing,
    own: () => ownState(observedParts),
    figures: () => readMetricsSnapshot(observedParts),
    endAll: (reason) => deadlines.forEach((deadline) => deadline.cancel(reason)),
  }
}

const invalidationsOf = (apiKeys: ApiKeyCache) => ({
  invalidateKey: (hash: string) => apiKeys.invalidateKey(hash),
  invalidateKeysOf: (userId: string) => apiKeys.invalidateUser(userId),
})

/** Creates the lists of providers, which are read through services that are created later. */
const createProviderLists = (upstreams: () => Pick<GatewayServices, 'egress' | 'credentials'>) =>
  new ProviderLists({
    list: (provider, connection) => probe(upstreams(), { provider, connection }),
  })

/** The bytes of large answers in memory: an owner gets half of what the others leave. */
const maxLargeAnswers = 256 * 1024 * 1024

/** Creates what bounds the work of this process. */
function createBounds({ config, log }: Dependencies, disposables: AsyncDisposableStack) {
  const loopShares = disposables.use(new EventLoopShares({ share: config.ownerShare }))
  const counter = disposables.use(createTokenCounter(log))
  return {
    loopShares,
    largeEvents: new LargeEvents(),
    largeAnswers: new LargeEvents(maxLargeAnswers, 'answers'),
    drains: new UsageDrainPool({ max: maxDrains, lifeMs: drainMs }),
    counter,
    closerBounds: new CloserBounds({ counter, shares: loopShares }),
  }
}

const createTokenCounter = (log: Logger) =>
  new TokenCounter({ onFailure: (err) => log.warn({ err }, 'tokens could not be counted') })

const logsMs = 1000

/** Waits briefly for pending writes: other nodes write theirs within a quarter of a second. */
const soon = async (writing: readonly Promise<void>[]): Promise<void> => {
  await withTimeout(Promise.all(writing), logsMs).catch(() => undefined)
}

/** Creates authentication and rate limits. */
async function createAuthentication(
  { config, settings, storage, apiKeys, log }: Dependencies & { apiKeys: ApiKeyCache },
  disposables: AsyncDisposableStack,
) {
  const lastUse = disposables.use(
    new LastUsedRecorder(storage.database.query, (err) =>
      log.warn({ err }, 'the last use of API keys could not be stored'),
    ),
  )
  const { counters, subscriptions } = await createCounters({ config, storage, log }, disposables)
  const limits = new RateLimits(counters)
  const failures = new FailedAuthentications({
    perMinute: () => settings.current.rates.failedAuthenticationsPerMinute,
  })
  const rates = () => settings.current.rates
  const unknownKeys = new UnknownKeyLimiter()
  const anonymousCallers = new AddressRate({ perMinute: () => rates().publicRequestsPerMinute })
  const apiPerMinute = () => rates().apiRequestsPerMinute
  return {
    counters,
    subscriptions,
    failures,
    limits,
    connectionRates: new ConnectionRates(counters),
    authenticator: new Authenticator({
      apiKeys,
      failures,
      unknownKeys,
      limits,
      lastUse,
      anonymousCallers,
      apiPerMinute,
    }),
  }
}
