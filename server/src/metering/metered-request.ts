import type { UsageRecorder } from './usage-recorder'
import type { PassedOver, UsageEvent } from '../ledger/usage-event'
import type { RequestLog } from '../request-logs/request-log'

/** The dependencies of a meter. */
export interface MeterPorts {
  usage: Pick<UsageRecorder, 'begin' | 'settle'>
  onError: (error: unknown) => void
  /** The platform's fee on a price that is paid to another party, in millionths. */
  readonly feeMillionths: number
}

/** The facts of a metered request. */
export interface Metered {
  requestId: string
  userId: string
  keyId: string
  /** The model as the caller named it. */
  requestedModel: string
  /** The candidates that are skipped, as far as known before the first attempt. */
  passedOver: readonly PassedOver[]
  operation: UsageEvent['operation']
  streamed: boolean
  /** Set where the caller set the output limit itself: it never pays beyond that. */
  hasOwnLimit: boolean
  /** Its tags that budgets of its account count; absent for none. */
  budgetTags?: readonly string[] | null
  /** The log of the request, whose record is written with its last attempt. */
  log?: Pick<RequestLog, 'beginAttempt' | 'record'>
}
