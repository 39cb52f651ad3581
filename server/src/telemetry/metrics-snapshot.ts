import type { LeaseTotals } from '../ledger/credit-manager'

/** What is in the journal. */
export interface JournalFigures {
  /** Attempts that run. */
  running: number
  /** Attempts that ran when an earlier process died, and are not settled yet. */
  orphaned: number
  /** Those of them that there were when this process began. */
  orphansFound: number
  /** Settled, and not booked. */
  waiting: number
  /** For how long the oldest of these has waited. */
  oldestMs: number
  /** The last try to book failed. */
  isBehind: boolean
}

/** What this node has of the ledger. */
export interface MoneyFigures extends LeaseTotals {
  journal: JournalFigures
}

/** A connection that fails. */
export interface BreakerFigures {
  provider: string
  /** Routes that all pass over. */
  open: number
  /** Routes that fail and that not all pass over. */
  troubled: number
  /** Accounts that pass over a route on their own, each on each route. */
  accounts: number
}

/** What the process does not take on, or counts. */
interface LoadFigures {
  /** Requests that were refused as there was too much to do, by what there was too much of. */
  shed: Readonly<Record<'running' | 'loop' | 'bodies', number>>
  /** The bytes of large bodies that were not sent on yet. */
  bodyBytes: number
}

/** What runs between this node and others: asked by it, and served by it; and since its start. */
interface RelayedFigures {
  asked: number
  served: number
  askedTotal: number
  servedTotal: number
}

/** How the process stands at a moment; asked when somebody reads metrics. */
export interface MetricsSnapshot {
  money: MoneyFigures
  breakers: readonly BreakerFigures[]
  /** Requests to models that run. */
  running: number
  streams: number
  load: LoadFigures
  /** Answers that are read on after their callers have left. */
  drains: number
  database: { total: number; idle: number; waiting: number; most: number }
  /** Entries by the cache's name. */
  caches: Readonly<Record<string, number>>
  redis: 'none' | 'reachable' | 'lost'
  /** Calls of self-hosted gateways over other nodes; undefined where nodes share no Redis. */
  relayed: RelayedFigures | undefined
  isStopping: boolean
}
