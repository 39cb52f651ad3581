import type { LeaseTotals } from '../ledger/credit-manager'

/** State of the journal. */
export interface JournalFigures {
  /** Running attempts. */
  running: number
  /** Attempts that ran when an earlier process died, and are not settled yet. */
  orphaned: number
  /** The number of orphaned attempts when this process began. */
  orphansFound: number
  /** Settled, and not booked. */
  waiting: number
  /** The time for which the oldest of these has waited. */
  oldestMs: number
  /** The last try to book failed. */
  isBehind: boolean
}

/** This node's state in the ledger. */
export interface MoneyFigures extends LeaseTotals {
  journal: JournalFigures
}

/** State of the circuit breakers. */
export interface BreakerFigures {
  provider: string
  /** Routes that all accounts skip. */
  open: number
  /** Routes that fail and that not all accounts skip. */
  troubled: number
  /** Accounts whose own breaker of a route is open, each on each route. */
  accounts: number
}

/** Requests and bytes that the process rejects or holds. */
interface LoadFigures {
  /** Requests rejected by load shedding, by the exhausted resource. */
  shed: Readonly<Record<'running' | 'loop' | 'bodies', number>>
  /** The bytes of large bodies that were not sent on yet. */
  bodyBytes: number
}

/** Calls that run between this node and others: from it, and to it; and since its start. */
interface RelayedFigures {
  asked: number
  served: number
  askedTotal: number
  servedTotal: number
}

/** A snapshot of the process, taken for each reading of metrics. */
export interface MetricsSnapshot {
  money: MoneyFigures
  breakers: readonly BreakerFigures[]
  /** Running requests to models. */
  running: number
  streams: number
  load: LoadFigures
  /** Answers that are drained after their clients have disconnected. */
  drains: number
  database: { total: number; idle: number; waiting: number; most: number }
  /** Entries by the cache's name. */
  caches: Readonly<Record<string, number>>
  redis: 'none' | 'reachable' | 'lost'
  /** Calls of self-hosted gateways over other nodes; undefined where nodes share no Redis. */
  relayed: RelayedFigures | undefined
  isStopping: boolean
}
