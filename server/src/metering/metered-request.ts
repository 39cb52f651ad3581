import type { PassedOver, UsageEvent } from '../ledger/usage-event'

/** Where a meter writes what it read. */
export interface MeterPorts {
  /** Resolves when a killed process would leave the record behind. */
  begin: (attemptId: string, record: string) => Promise<void>
  /**
   * Resolves when the event will be booked whatever happens, and the log of its request with it where there
   * is one, with what is charged of its cost, in nano-dollars; rejects where it may not be.
   */
  settle: (event: UsageEvent, log?: string) => Promise<bigint>
  onError: (error: unknown) => void
  /** What the platform takes of a price that is paid to somebody else, in millionths. */
  readonly feeMillionths: number
}

/** Whose request is metered, and of what. */
export interface Metered {
  requestId: string
  userId: string
  keyId: string
  /** What the caller named. */
  requestedModel: string
  /** Who is not asked, as is known before anybody is. */
  passedOver: readonly PassedOver[]
  operation: UsageEvent['operation']
  streamed: boolean
  /** The caller set the output limit itself: it never pays beyond that. */
  hasOwnLimit: boolean
  /** Told when an attempt is written down and goes out. */
  onAttempt?: (() => void) | undefined
  /** The log of the request, as a record that is written with its last attempt. */
  log?: {
    record: (event: UsageEvent, cacheSavings?: bigint) => string | undefined
    /** Told of an attempt that begins, of the one before it, and of the self-hosted gateway it goes by. */
    asked?: (event: UsageEvent, failed: UsageEvent | undefined, by: string | null) => void
  }
}
