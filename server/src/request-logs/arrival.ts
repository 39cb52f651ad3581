import type { LogValues } from './log-record'
import type { Principal } from '../auth/principal'
import type { UsageEvent } from '../ledger/usage-event'

/** Follows one request that is traced. */
export interface RequestTrace {
  /** What a provider is told of the trace, in the attempt that runs; undefined where it is not told. */
  readonly traceparent: string | undefined
  /** An attempt begins, after `failed`. */
  asked: (event: UsageEvent, failed: UsageEvent | undefined) => void
  /** The request has ended; `event` is its last attempt. */
  ended: (values: LogValues, event: UsageEvent | undefined) => void
  /** The head of its answer goes out; `hasLog`: its end is told later, or was told. */
  answered: (status: number, hasLog: boolean) => void
}

/** A request as it came. */
export interface Arrival {
  requestId: string
  /** Its path. */
  endpoint: string
  address: () => string
  userAgent: string
  /** Set as its log begins: whoever answers it leaves the line in the process's log to that. */
  hasLog?: boolean
  trace?: RequestTrace | undefined
}

export type LoggedCaller = Pick<Principal, 'userId' | 'keyId' | 'keyPrefix' | 'logBodies'>
