import type { Logger } from 'pino'
import { crashingStore } from './crash'
import { bookLeftJournals } from './left-journals'
import { openMonths } from './months'
import type { Notices } from './notices'
import { placeOf, recover } from './recover'
import type { Storage } from './storage'
import { openUsage } from './usage'
import type { Config } from '../config'
import type { CrashAt } from '../crash-points'
import { newId } from '../db/id'
import type { Subscriptions } from '../db/listener'
import { endLeases, expiredLeases, leasesOf } from '../ledger/end-leases'
import { createLeaseStore, leaseStatements } from '../ledger/lease-store'
import { LeaseUpkeep } from '../ledger/lease-upkeep'
import { beat, forgetNode, registerNode, type LedgerNode } from '../ledger/node'
import { Purses } from '../ledger/purses'
import { Recalls, recalledLately } from '../ledger/recalls'
import { Restrictions } from '../ledger/restrictions'
import { Sweeper } from '../ledger/sweeper'
import type { Flusher } from '../metering/flusher'
import { Metering } from '../metering/metering'
import type { Months } from '../metering/months'
import type { LiveSettings } from '../settings/live-settings'
import type { MoneyFigures } from '../telemetry/figures'
import type { UsageCounts } from '../telemetry/model-counts'
import { within } from '../within'

const stopPatienceMs = 5000
/** Well below a day: as long as a lease is kept, so are all its events. */
const rotateAfterMs = 12 * 3_600_000

export interface Money {
  nodeId: string
  /** What the ledger has not booked of this node's usage. */
  unbooked: () => { waiting: number; isBehind: boolean }
  figures: () => MoneyFigures
  /** Whether what requests use can be written down. Never rejects. */
  isJournalWritable: () => Promise<boolean>
  /** Whether no other process has lived in the last minute, as far as this one knows. */
  isAlone: () => boolean
  metering: Metering
  months: Months
  subscriptions: Subscriptions
  /** Something came to an account. */
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

/** Opens the journal and the ledger's side of this node; `stack` books what is left and gives back. */
export async function openMoney(options: Options, stack: AsyncDisposableStack): Promise<Money> {
  const { settings, storage, log, crashAt } = options
  const { query } = storage.database
  const node: LedgerNode = { id: newId('node'), place: await placeOf(storage.dataDir) }
  const alive = { nodes: 1 }
  await registerNode(query, node)
  alive.nodes = await beat(query, node.id)
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
  const creditCame = (accountId: string) => purses.creditCame(accountId)
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
      purses.creditMayHaveCome()
      restrictions.refreshSoon()
    },
  }
}

interface OwnNode {
  node: LedgerNode
  alive: { nodes: number }
}

/** The leases of this node, which has none yet. */
async function openPurses(
  { storage: { database }, crashAt, log }: Options,
  { node, alive }: OwnNode,
): Promise<Purses> {
  const { liveness } = database
  await liveness.measure()
  const statements = leaseStatements(database, { nodeId: node.id, nodes: () => alive.nodes })
  const store = createLeaseStore(statements, liveness)
  return new Purses({
    nodeId: node.id,
    store: crashAt ? crashingStore(store, crashAt) : store,
    newLeaseId: () => newId('lease'),
    now: readClocks,
    pause: (ms) => Bun.sleep(ms),
    rotateAfterMs,
    onError: (err) => log.warn({ err }, 'leases could not be renewed or given back'),
  })
}

const recallsOf = (purses: Purses, { log, crashAt }: Pick<Options, 'log' | 'crashAt'>) =>
  new Recalls(({ accountId }) => {
    crashAt?.('recall-received')
    purses.recalled(accountId).catch((err: unknown) => {
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
  purses: Purses
}

/** Keeps the leases of this node alive, and frees what dead ones left. */
function keepUp(
  parts: Pick<Parts, 'storage' | 'log' | 'crashAt' | 'node' | 'purses'> & {
    alive: { nodes: number }
    recalls: Recalls
  },
): Disposable {
  const { storage, log, crashAt, node, purses, alive, recalls } = parts
  const { query } = storage.database
  const sweeper = new Sweeper(
    { expired: () => expiredLeases(query), end: (ids) => endLeases(query, ids, 'swept') },
    () => performance.now(),
    crashAt,
  )
  return new LeaseUpkeep({
    purses,
    readRecalls: (held) => recalledLately(query, node.id, held),
    onRecall: (recalled) => recalls.note(recalled),
    beat: async () => {
      alive.nodes = await beat(query, node.id)
      await storage.database.liveness.measure()
    },
    sweep: async () => {
      const swept = await sweeper.sweep()
      if (swept.length > 0) log.warn({ leases: swept }, 'leases of silent nodes were swept')
    },
    onError: (err) => log.warn({ err }, 'the upkeep of leases failed'),
  })
}

/** What is settled is booked and what is free goes back, as far as the database answers. */
async function leave(parts: Pick<Parts, 'storage' | 'log' | 'node' | 'flusher' | 'purses'>) {
  const { storage, log, node, flusher, purses } = parts
  const leaving = async () => {
    await flusher.drain()
    await purses.giveBackAll()
    await endLeases(
      storage.database.query,
      await leasesOf(storage.database.query, node.id),
      'closed',
    )
    await forgetNode(storage.database.query, node.id)
  }
  await within(leaving(), stopPatienceMs).catch((err: unknown) => {
    log.warn({ err }, 'not everything was booked; the next start does it')
  })
}
