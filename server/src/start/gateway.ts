import type { Logger } from 'pino'
import { openClaims } from './idempotency'
import { openLogs } from './logs'
import { openMoney, type Money } from './money'
import { openSockets, type OpenedSockets } from './gateways'
import { openRouting, type RoutingLookUps } from './routing'
import type { Notices } from './notices'
import type { Storage } from './storage'
import { ownState } from './system'
import { figuresOf, type Telemetry } from './telemetry'
import { openWaysOut } from './ways-out'
import type { OwnState } from '../api/admin-system/store'
import { Keyring } from '../auth/keyring'
import { LastUse, lookUpIn } from '../auth/look-up'
import type { AccountCatalogs } from '../catalog/account-catalog'
import type { Runs } from '../automation/runs'
import { endedChannel as sessionChannel, haltedChannel } from '../automation/sessions'
import type { Catalog } from '../catalog/catalog'
import { StartError, type Config, type Timers } from '../config'
import type { CrashAt } from '../crash-points'
import { Listener } from '../db/listener'
import type { Egress } from '../egress/egress'
import type { GuardedEgress } from '../egress/guarded-egress'
import { createGateway, type Gateway } from '../gateway'
import { Drains } from '../gateway/drains'
import { imageLimits } from '../gateway/remote-images'
import { FetchPlaces } from '../gateway/fetch-places'
import type { Claims } from '../idempotency/claims'
import { endChannel } from '../idempotency/store'
import { TokenCounter } from '../metering/token-counter'
import { AddressRate } from '../policy/address-rate'
import { ConnectionRates } from '../policy/connection-rates'
import type { Counters } from '../policy/counters'
import { Door } from '../policy/door'
import { FailedAuthentications } from '../policy/failed-authentications'
import { Limits } from '../policy/limits'
import { MemoryCounters } from '../policy/memory-counters'
import { OwnerBudget } from '../policy/owner-budget'
import { SharedCounters } from '../policy/shared-counters'
import { Strangers } from '../policy/strangers'
import type { Credentials } from '../providers/credentials'
import type { Deadline } from '../routing/deadline'
import { ConversationAffinity } from '../routing/conversation'
import { PoolTurns } from '../routing/pool-turns'
import type { LiveSettings } from '../settings/live-settings'
import { within } from '../within'

/** Answers read on for their usage after their callers have gone. */
const maxDrains = 32
const drainMs = 30_000

/** Images that are fetched for providers which do not fetch, in the process and for one account. */
const fetches = { most: 32, mostOfOwner: 8 }

interface Parts {
  config: Config
  /** As operators set them at any moment. */
  timers: Timers
  settings: LiveSettings
  storage: Storage
  catalog: Catalog
  log: Logger
  crashAt: CrashAt | undefined
  /** Messages of sessions that run here. */
  runs: Pick<Runs, 'cancel' | 'halt'>
  notices: Notices
  telemetry: Telemetry
}

/** The gateway, and what else is made of its parts. */
export interface OpenedGateway extends OpenedSockets {
  gateway: Gateway
  door: Door
  egress: Egress
  credentials: Credentials
  /** Judges addresses that customers set. */
  guarded: Pick<GuardedEgress, 'check'>
  accounts: AccountCatalogs
  lookUps: RoutingLookUps
  claims: Claims
  drains: Drains
  /** Something came to an account, by this node. */
  creditCame: (accountId: string) => void
  /** Whether what requests use can be written down. Never rejects. */
  isJournalWritable: () => Promise<boolean>
  /** Writes down what has just ended on this node, for who reads it; not for long, and never rejects. */
  logsWritten: () => Promise<void>
  /** A secret, by its hash, must not be taken any more. */
  forgetKey: (hash: string) => void
  limits: Limits
  budget: OwnerBudget
  counter: TokenCounter
  routing: ReturnType<typeof openRouting>['routing']
  /** What this process can tell of itself. */
  own: () => OwnState
  figures: () => ReturnType<typeof figuresOf>
  /** Ends what still runs. */
  endAll: (reason: Error) => void
}

/** Opens what a request passes: keys, limits, credit, the way out. Throws `StartError`. */
export async function openGateway(
  parts: Parts,
  stack: AsyncDisposableStack,
): Promise<OpenedGateway> {
  const { config, storage, catalog, timers, settings, log } = parts
  const keyring = new Keyring({ lookUp: lookUpIn(storage.database) })
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
  const drains = new Drains({ max: maxDrains, lifeMs: drainMs })
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
      // What callers name is never the operator's own.
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
    figures: () => figuresOf(told),
    endAll: (reason) => {
      for (const deadline of running) deadline.cancel(reason)
    },
  }
}

const openTokenCounter = (log: Logger) =>
  new TokenCounter({ onFailure: (err) => log.warn({ err }, 'tokens could not be counted') })

const logsMs = 1000

/** Other nodes write what they have within a quarter of a second. */
const soon = async (writing: readonly Promise<void>[]): Promise<void> => {
  await within(Promise.all(writing), logsMs).catch(() => undefined)
}

/** Who may come in, and how much of it. */
function openDoor(
  { config, settings, storage, keyring, log }: Parts & { keyring: Keyring },
  stack: AsyncDisposableStack,
) {
  const lastUse = stack.use(
    new LastUse(storage.database.query, (err) =>
      log.warn({ err }, 'the last use of keys could not be noted'),
    ),
  )
  const counters = openCounters(config, log, stack)
  const limits = new Limits(counters)
  const failures = new FailedAuthentications({
    perMinute: () => settings.current.rates.failedAuthenticationsPerMinute,
  })
  const rates = () => settings.current.rates
  const strangers = new Strangers()
  const visitors = new AddressRate({ perMinute: () => rates().publicRequestsPerMinute })
  const apiPerMinute = () => rates().apiRequestsPerMinute
  return {
    counters,
    failures,
    limits,
    connectionRates: new ConnectionRates(counters),
    door: new Door({ keyring, failures, strangers, limits, lastUse, visitors, apiPerMinute }),
  }
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

/** What keeps rows in memory. */
interface Caches {
  keyring: Keyring
  names: ReturnType<typeof openRouting>
  money: Money
  claims: Claims
  hosted: OpenedSockets
}

/** Changes made on other nodes, or by hand, reach what is kept in memory here. */
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
    // What changed between its reading and now.
    money.onGap()
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : 'unknown error'
    throw new StartError(`The database takes no listening connection: ${why}.`, { cause })
  }
}
