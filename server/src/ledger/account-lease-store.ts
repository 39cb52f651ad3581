import type { LeaseAnswer } from './lease-answer'
import type { RenewedLease } from './renew-leases'
import type { LocalLease } from './local-lease'

/** What a node asks for; see `LeaseWanted`. */
export interface LeaseTake {
  leaseId: string
  generation: number
  need: bigint
  wish: bigint
  isRecalling: boolean
}

/** The ledger's database, as one account on one node sees it; every call has a deadline. */
export interface AccountLeaseStore {
  /** Resolves with undefined where there is no such account. */
  take: (slice: LeaseTake) => Promise<LeaseAnswer | undefined>
  /** Finds out what became of a lease; what was sent about it before does nothing any more. */
  fence: (slice: { leaseId: string; generation: number }) => Promise<LeaseAnswer | undefined>
  /** Prolongs a lease; undefined where it has ended. */
  renew: (leaseId: string) => Promise<RenewedLease | undefined>
  /** Resolves when something came to the account or another node recalls, or after `ms`. */
  creditWithin: (ms: number) => Promise<void>
  /** Returns what is free of a slice, within the lease work of its account. Never rejects. */
  release: (slice: LocalLease) => Promise<void>
  /** Leaves the line of the account. Never rejects. */
  withdraw: () => Promise<void>
  /** Whether a call that failed has certainly changed nothing. */
  isUndone: (thrown: unknown) => boolean
  /** Whether the database answers at all. Never rejects. */
  isAlive: () => Promise<boolean>
  /** Of the database: there and back, in milliseconds. */
  readonly roundTripMs: number
}
