import type { Logger } from 'pino'
import { crashingStore } from './crash'
import { bookLeftJournals } from '../booking/orphaned-journals'
import { openMonths } from './spending-limits'
import type { Notices } from './notices'
import { placeOf, recover } from '../booking/recover-journal'
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
import { CreditManager } from '../ledger/credit-manager'
import { LeaseReclaimer, findRecentReclaims } from '../ledger/lease-reclaim'
import { Restrictions } from '../ledger/restrictions'
import { Sweeper } from '../ledger/sweeper'
import type { Flusher } from '../booking/flusher'
import { Metering } from '../metering/metering'
import type { SpendingLimits } from '../metering/spending-limits'
import type { LiveSettings } from '../platform/settings/live-settings'
import type { MoneyFigures } from '../telemetry/metrics-snapshot'
import type { UsageCounts } from '../telemetry/model-counts'
import { withTimeout } from '../platform/with-timeout'

const stopPatienceMs = 5000
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
  months: SpendingLimits
  subscriptions: Subscriptions
  /** Called when credit was added to an account. */
  creditCame: (accountId: string) => void
  /** Books what this node has settled by now; never rejects. */
  catchUp: () => Promise<void>
  /** Notifications may have been missed. */
  onGap: () => void
}

interface Options {
  config: Config
  settings: LiveSettings
  storage: Storage
  log: Logger
  crashAt: CrashAt | undefined
  notices: Notices
  telemetry: { usage: Pick<UsageCounts, 'settled'> }
}

/**
 * Opens the journal, the leases and the metering of this node; `stack` books the remaining usage and returns leases.
 */
export async function openMoney(options: Options, stack: AsyncDisposableStack): Promise<Money> {
  const { settings, storage, log, crashAt } = options
  const { query } = storage.database
  const node: LedgerNode = { id: newId('node'), place: await placeOf(storage.dataDir) }
  const alive = { nodes: 1 }
  await registerNode(query, node)
  alive.nodes = await recordHeartbeat(query, node.id)
  const { journal, flusher, portsFor, figures } = await openUsage(options, stack)
  await recover({ storage, log, crashAt, node, journal, flusher })
  await bookLeftJournals(options, stack)
  const purses = await openPurses(options, { node, alive })
  const restrictions = stack.use(openRestrictions(options))
  await restrictions.read()
  const recalls = recallsOf(purses, options)
  stack.use(keepUp({ storage, log, crashAt, node, purses, alive, recalls }))
  stack.defer(() => leave({ storage, log, node, flusher, purses }))
  const months = openMonths(options, stack)
  const creditCame = (accountId: string) => purses.onCreditAdded(accountId)
  return {
    nodeId: node.id,
    unbooked: () => ({ waiting: journal.size, isBehind: flusher.isBehind }),
    isJournalWritable: () => journal.isWritable(),
    isAlone: () => alive.nodes <= 1,
    figures: () => ({ ...purses.totals(), journal: figures() }),
    creditCame,
    catchUp: () => flusher.catchUp(),
    months,
    metering: new Metering({
      purses,
      restrictions,
      get minimumBalance() {
        return settings.current.minimumBalance
      },
      get feeMillionths() {
        return Math.round(settings.current.platformFeePercent * 10_000)
      },
      ...portsFor(months),
      onError: (err) => log.warn({ err }, 'the ledger could not be asked for credit'),
    }),
    subscriptions: {
      tollgate_restriction: () => restrictions.refreshSoon(),
      tollgate_credit: creditCame,
      tollgate_recall: (payload) => recalls.hear(payload, node.id),
    },
    onGap: () => {
      purses.onCreditMaybeAdded()
      restrictions.refreshSoon()
    },
  }
}

interface OwnNode {
  node: LedgerNode
  alive: { nodes: number }
}

/** Opens the leases of this node, which has none yet. */
async function openPurses(
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
    onError: (err) => log.warn({ err }, 'leases could not be renewed or given back'),
  })
}

const recallsOf = (purses: CreditManager, { log, crashAt }: Pick<Options, 'log' | 'crashAt'>) =>
  new LeaseReclaimer(({ accountId }) => {
    crashAt?.('recall-received')
    purses.onReclaim(accountId).catch((err: unknown) => {
      log.warn({ err }, 'a slice that another node asked for could not be given back')
    })
  })

const openRestrictions = ({ storage, log }: Options) =>
  new Restrictions({
    db: storage.database.query,
    pause: (ms) => Bun.sleep(ms),
    onError: (err) => log.warn({ err }, 'the accounts that are not served could not be read'),
  })

const readClocks = () => ({ monotonicMs: performance.now(), wallMs: Date.now() })

interface Parts extends Pick<Options, 'storage' | 'log' | 'crashAt'> {
  node: LedgerNode
  flusher: Flusher
  purses: CreditManager
}

/** Renews the leases of this node, and frees those of dead nodes. */
function keepUp(
  parts: Pick<Parts, 'storage' | 'log' | 'crashAt' | 'node' | 'purses'> & {
    alive: { nodes: number }
    recalls: LeaseReclaimer
  },
): Disposable {
  const { storage, log, crashAt, node, purses, alive, recalls } = parts
  const { query } = storage.database
  const sweeper = new Sweeper(
    { expired: () => findExpiredLeases(query), end: (ids) => endLeases(query, ids, 'swept') },
    () => performance.now(),
    crashAt,
  )
  return new LeaseUpkeep({
    purses,
    readRecalls: (held) => findRecentReclaims(query, node.id, held),
    onRecall: (recalled) => recalls.note(recalled),
    beat: async () => {
      alive.nodes = await recordHeartbeat(query, node.id)
      await storage.database.liveness.measure()
    },
    sweep: async () => {
      const swept = await sweeper.sweep()
      if (swept.length > 0) log.warn({ leases: swept }, 'leases of silent nodes were swept')
    },
    onError: (err) => log.warn({ err }, 'the upkeep of leases failed'),
  })
}

/** Books settled usage and returns unused credit, as far as the database answers. */
async function leave(parts: Pick<Parts, 'storage' | 'log' | 'node' | 'flusher' | 'purses'>) {
  const { storage, log, node, flusher, purses } = parts
  const leaving = async () => {
    await flusher.drain()
    await purses.giveBackAll()
    await endLeases(
      storage.database.query,
      await findLeases(storage.database.query, node.id),
      'closed',
    )
    await deleteNode(storage.database.query, node.id)
  }
  await withTimeout(leaving(), stopPatienceMs).catch((err: unknown) => {
    log.warn({ err }, 'not everything was booked; the next start does it')
  })
}
