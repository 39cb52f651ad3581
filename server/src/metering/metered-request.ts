import type { PassedOver, UsageEvent } from '../ledger/usage-event'

/** The dependencies through which a meter writes its events. */
export interface MeterPorts {
  /** Resolves when a killed process would leave the record behind. */
  begin: (attemptId: string, record: string) => Promise<void>
  /**
   * Resolves with the charged part of the cost, in nano-dollars, when the event, and the log of its request where
   * there is one, will be booked whatever happens; rejects where they may not be.
   */
  settle: (event: UsageEvent, log?: string) => Promise<bigint>
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
  /** Called when an attempt is recorded and is sent. */
  onAttempt?: (() => void) | undefined
  /** The log of the request, as a record that is written with its last attempt. */
  log?: {
    record: (event: UsageEvent, cacheSavings?: bigint) => string | undefined
    /** Called with an attempt that begins, the one before it, and the self-hosted gateway it is sent by. */
    asked?: (event: UsageEvent, failed: UsageEvent | undefined, by: string | null) => void
  }
}
