import type { LogValues } from './log-record'
import type { Principal } from '../auth/principal'
import type { UsageEvent } from '../ledger/usage-event'

/** Follows one request that is traced. */
export interface RequestTrace {
  /** The trace context to send to the provider in the running attempt; undefined where none is sent. */
  readonly traceparent: string | undefined
  /** An attempt begins, after `failed`. */
  beginAttempt: (event: UsageEvent, failed: UsageEvent | undefined) => void
  /** The request has ended; `event` is its last attempt. */
  ended: (values: LogValues, event: UsageEvent | undefined) => void
  /** The head of the answer is sent; `hasLog`: a request log reports its end. */
  answered: (status: number, hasLog: boolean) => void
}

/** A request as it arrived. */
export interface Arrival {
  requestId: string
  /** Its path. */
  endpoint: string
  address: () => string
  userAgent: string
  /** Set as the request log begins, which then writes the line in the process's log. */
  hasLog?: boolean
  trace?: RequestTrace | undefined
}

export type LoggedCaller = Pick<Principal, 'userId' | 'keyId' | 'keyPrefix' | 'logBodies' | 'tags'>
