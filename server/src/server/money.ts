import type { Logger } from 'pino'
import { crashingStore } from './crash'
import { bookOrphanedJournals } from '../booking/orphaned-journals'
import { createLostBookings, startChecks } from '../booking/create-lost-bookings'
import { createSpendingLimits } from './spending-limits'
import type { Notices } from './notices'
import { identifyDirectory, recover } from '../booking/recover-journal'
import type { Storage } from './storage'
import { openUsage } from '../booking/usage'
import type { Config } from '../platform/config/config'
import type { CrashAt } from '../platform/crash-points'
import { newId } from '../platform/db/id'
import type { Subscriptions } from '../platform/db/listener'
import { endLeases, findExpiredLeases, findLeases } from '../ledger/end-leases'
import { createLeaseStore, createLeaseStatements } from '../ledger/lease-store'
import { LeaseUpkeep } from '../ledger/lease-upkeep'
import { recordHeartbeat, deleteNode, registerNode, type LedgerNode } from '../ledger/node'
import type { Charge } from '../ledger/charge'
import { CreditManager } from '../ledger/credit-manager'
import type { SettledRange } from '../journal/settled-range'
import { LeaseReclaimer, findRecentReclaims } from '../ledger/lease-reclaim'
import { deleteShares, shareChannel } from '../ledger/shares/exchange-shares'
import { Restrictions } from '../ledger/restrictions'
import { Sweeper } from '../ledger/sweeper'
import type { Flusher } from '../booking/flusher'
import { Metering } from '../metering/metering'
import type { SpendingLimits } from '../metering/spending-limits'
import { UsageRecorder } from '../metering/usage-recorder'
import type { LiveSettings } from '../platform/settings/live-settings'
import type { MoneyFigures } from '../telemetry/metrics-snapshot'
import type { UsageCounts } from '../telemetry/model-counts'
import { withTimeout } from '../platform/with-timeout'

const maxStopMs = 5000
const maxLoggedLeases = 100
/** Well below a day: the events of a lease are kept at least as long as the lease. */
const rotateAfterMs = 12 * 3_600_000

export interface Money {
  nodeId: string
  /** This node's usage that the ledger has not booked yet. */
  unbooked: () => { waiting: number; isBehind: boolean }
  figures: () => MoneyFigures
  /** Whether usage can be written to disk. Never rejects. */
  isJournalWritable: () => Promise<boolean>
  /** Whether no other process was alive in the last minute, as far as this one knows. */
  isAlone: () => boolean
  metering: Metering
  spendingLimits: SpendingLimits
  subscriptions: Subscriptions
  /** Called when credit was added to an account. */
  onCreditAdded: (accountId: string) => void
  /** Books what this node has settled by now; never rejects. */
  catchUp: () => Promise<void>
  /** Notifications may have been missed. */
  onGap: () => void
  /** The database answers again, and may be another one. */
  onReconnect: () => void
}

interface Options {
  config: Config
  settings: LiveSettings
  storage: Storage
  log: Logger
  crashAt: CrashAt | undefined
  notices: Notices
  telemetry: { usage: Pick<UsageCounts, 'countAttempt'> }
  /** Set in a worker. */
  launcher?: { book: (range: SettledRange) => Promise<unknown> } | undefined
}

/**
 * Opens the journal, the leases and the metering of this node; `disposables` books the remaining usage and returns leases.
 */
export async function createMoney(
  options: Options,
  disposables: AsyncDisposableStack,
): Promise<Money> {
  const { settings, storage, log, crashAt } = options
  const { query } = storage.database
  const node: LedgerNode = { id: newId('node'), location: await identifyDirectory(storage.dataDir) }
  const alive = { nodes: 1 }
  await registerNode(query, node)
  alive.nodes = await recordHeartbeat(query, node.id)
  const credit = await createCredit(options, { node, alive })
  const usage = await openBookedUsage(options, { node, credit }, disposables)
  const { journal, flusher, writer, figures } = usage
  const restrictions = disposables.use(createRestrictions(options))
  await restrictions.read()
  const reclaimer = createReclaimer(credit, options)
  disposables.use(startUpkeep({ storage, log, crashAt, node, credit, alive, reclaimer }))
  disposables.defer(() => leave({ storage, log, node, flusher, credit }))
  const spendingLimits = createSpendingLimits({ ...options, nodeId: node.id }, disposables)
  const onCreditAdded = (accountId: string) => credit.onCreditAdded(accountId)
  return {
    nodeId: node.id,
    unbooked: () => ({ waiting: journal.size, isBehind: flusher.isBehind }),
    isJournalWritable: () => journal.isWritable(),
    isAlone: () => alive.nodes <= 1,
    figures: () => ({ ...credit.totals(), journal: figures() }),
    onCreditAdded,
    catchUp: () => flusher.catchUp(),
    spendingLimits,
    metering: new Metering({
      credit,
      restrictions,
      get minimumBalance() {
        return settings.current.minimumBalance
      },
      get feeMillionths() {
        return Math.round(settings.current.platformFeePercent * 10_000)
      },
      usage: new UsageRecorder({ writer, spendingLimits, counts: options.telemetry.usage }),
      onError: (err) => log.warn({ err }, 'credit could not be taken from the ledger'),
    }),
    subscriptions: {
      tollgate_restriction: () => restrictions.refreshSoon(),
      tollgate_credit: onCreditAdded,
      tollgate_recall: (payload) => reclaimer.onNotification(payload, node.id),
      [shareChannel]: (payload) => spendingLimits.onRecall(payload),
    },
    onGap: () => {
      credit.onCreditMaybeAdded()
      restrictions.refreshSoon()
    },
    onReconnect: usage.onReconnect,
  }
}

/**
 * Opens the journal, and books what earlier starts left. From then on checks that the database keeps what it has
 * confirmed.
 */
async function openBookedUsage(
  options: Options,
  { node, credit }: Pick<Dependencies, 'node' | 'credit'>,
  disposables: AsyncDisposableStack,
) {
  const { storage, log, crashAt, launcher } = options
  const onBooked = options.notices.soon
  const rejoin = () => rejoinLedger({ storage, log, node, credit })
  // The launcher of a worker reads the journals of all.
  const isDoubtful = launcher === undefined
  const lost = createLostBookings({ ...options, onBooked, onMended: rejoin, isDoubtful })
  const booking = { ...options, onBooked, onCommitted: (charge: Charge) => lost.note(charge) }
  const { journal, flusher, writer, figures } = await openUsage(booking, disposables)
  await recover({ storage, log, crashAt, node, journal, flusher })
  await bookOrphanedJournals(booking, disposables)
  startChecks(lost, disposables)
  return { journal, flusher, writer, figures, onReconnect: () => void lost.check().then(rejoin) }
}

/** Has each lease compared with the database, and registers this node again: the database may have gone back. */
function rejoinLedger({
  storage,
  log,
  node,
  credit,
}: Pick<Dependencies, 'storage' | 'log' | 'node' | 'credit'>): void {
  credit.renewSoon()
  registerNode(storage.database.query, node).catch((err: unknown) => {
    log.warn({ err }, 'this node could not be registered again')
  })
}

interface OwnNode {
  node: LedgerNode
  alive: { nodes: number }
}

/** Creates the leases of this node, which has none yet. */
async function createCredit(
  { storage: { database }, crashAt, log }: Options,
  { node, alive }: OwnNode,
): Promise<CreditManager> {
  const { liveness } = database
  await liveness.measure()
  const statements = createLeaseStatements(database, { nodeId: node.id, nodes: () => alive.nodes })
  const store = createLeaseStore(statements, liveness)
  return new CreditManager({
    nodeId: node.id,
    store: crashAt ? crashingStore(store, crashAt) : store,
    newLeaseId: () => newId('lease'),
    now: readClocks,
    pause: (ms) => Bun.sleep(ms),
    rotateAfterMs,
    onError: (err) => log.warn({ err }, 'leases could not be renewed or returned'),
  })
}

const createReclaimer = (
  credit: CreditManager,
  { log, crashAt }: Pick<Options, 'log' | 'crashAt'>,
) =>
  new LeaseReclaimer((reclaim) => {
    crashAt?.('recall-received')
    credit.onReclaim(reclaim).catch((err: unknown) => {
      log.warn({ err }, 'credit that another node requested could not be returned')
    })
  })

const createRestrictions = ({ storage, log }: Options) =>
  new Restrictions({
    db: storage.database.query,
    timeoutFor: (nearMs) => storage.database.liveness.timeoutFor(nearMs),
    pause: (ms) => Bun.sleep(ms),
    onError: (err) => log.warn({ err }, 'the list of blocked accounts could not be read'),
  })

const readClocks = () => ({ monotonicMs: performance.now(), wallMs: Date.now() })

interface Dependencies extends Pick<Options, 'storage' | 'log' | 'crashAt'> {
  node: LedgerNode
  flusher: Flusher
  credit: CreditManager
}

/** Renews the leases of this node, and frees those of dead nodes. */
function startUpkeep(
  dependencies: Pick<Dependencies, 'storage' | 'log' | 'crashAt' | 'node' | 'credit'> & {
    alive: { nodes: number }
    reclaimer: LeaseReclaimer
  },
): Disposable {
  const { storage, log, crashAt, node, credit, alive, reclaimer } = dependencies
  const { query } = storage.database
  const sweeper = new Sweeper(
    { findExpired: () => findExpiredLeases(query), end: (ids) => endLeases(query, ids, 'swept') },
    () => performance.now(),
    crashAt,
  )
  return new LeaseUpkeep({
    credit,
    readReclaims: (heldAmounts) => findRecentReclaims(query, node.id, heldAmounts),
    onReclaim: (reclaim) => reclaimer.note(reclaim),
    beat: async () => {
      alive.nodes = await recordHeartbeat(query, node.id)
      await storage.database.liveness.measure()
    },
    sweep: async () => {
      const swept = await sweeper.sweep()
      const leases = swept.slice(0, maxLoggedLeases)
      if (swept.length > 0)
        log.warn({ count: swept.length, leases }, 'leases of unresponsive nodes were reclaimed')
    },
    onError: (err) => log.warn({ err }, 'the maintenance of leases failed'),
  })
}

/** Books settled usage and returns unused credit, as far as the database answers. */
async function leave(
  dependencies: Pick<Dependencies, 'storage' | 'log' | 'node' | 'flusher' | 'credit'>,
) {
  const { storage, log, node, flusher, credit } = dependencies
  const leaving = async () => {
    await flusher.drain()
    await credit.giveBackAll()
    await endLeases(
      storage.database.query,
      await findLeases(storage.database.query, node.id),
      'closed',
    )
    await deleteShares(storage.database.query, node.id)
    await deleteNode(storage.database.query, node.id)
  }
  await withTimeout(leaving(), maxStopMs).catch((err: unknown) => {
    log.warn({ err }, 'some usage is not booked yet; the next start books it')
  })
}
