import type { JournalFigures } from '../booking/journal-figures'
import type { LeaseTotals } from '../ledger/credit-manager'

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
  uploads: UploadFigures
}

/** Forms with files: those that arrive now, and since the start the bytes of all and the number that arrived whole or not. */
interface UploadFigures {
  arriving: number
  bytes: number
  received: number
  rejected: number
}

/** Calls that run between this node and others: from it, and to it; and since its start. */
interface RelayedFigures {
  activeCalls: number
  served: number
  totalCalls: number
  servedTotal: number
}

/** The export of request logs to ClickHouse: its queue, which all nodes share, and the part of this process since its start. */
export interface LogExportFigures {
  waiting: number
  oldestSeconds: number
  exported: number
  rejected: number
  failures: number
  /** Whether ClickHouse did not answer lately. */
  isAway: boolean
}

/** The delivery of audit logs: what waits, which all nodes share, and the part of this process since its start. */
export interface AuditDeliveryFigures {
  waiting: number
  oldestSeconds: number
  /** Destinations whose last attempt failed. */
  failing: number
  delivered: number
  failures: number
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
  database: { total: number; idle: number; waiting: number; max: number }
  /** Entries by the cache's name. */
  caches: Readonly<Record<string, number>>
  redis: 'none' | 'reachable' | 'lost'
  /** The store that nodes share limits through. */
  limitStore: { name: 'redis' | 'postgresql'; isUp: boolean; assumedUnits: number } | undefined
  /** Calls of self-hosted gateways over other nodes; undefined where nodes share no Redis. */
  relayed: RelayedFigures | undefined
  /** Undefined where request logs are not exported. */
  logExport: LogExportFigures | undefined
  auditDelivery: AuditDeliveryFigures
  isStopping: boolean
  /** Lines of the log that could not be written to standard output. */
  droppedLogLines: number
}
