import type { LeaseAnswer } from './lease-answer'
import type { RenewedLease } from './renew-leases'
import type { LocalLease } from './local-lease'
import type { LeaseClaim } from './take-lease'

/** The ledger's database as seen by one account on one node; every call has a deadline. */
export interface AccountLeaseStore {
  /** Resolves with undefined where there is no such account. */
  take: (claim: Omit<LeaseClaim, 'accountId'>) => Promise<LeaseAnswer | undefined>
  /** Finds out the state of a lease; statements about it that were sent earlier have no effect any more. */
  fence: (lease: { leaseId: string; generation: number }) => Promise<LeaseAnswer | undefined>
  /** Prolongs a lease; undefined where it has ended. */
  renew: (leaseId: string) => Promise<RenewedLease | undefined>
  /** Resolves when the account is credited or another node reclaims, or after `ms`. */
  creditWithin: (ms: number) => Promise<void>
  /** Returns the free part of a lease, within the lease work of its account. Never rejects. */
  release: (lease: LocalLease) => Promise<void>
  /** Returns whether a call that failed has certainly changed nothing. */
  isUndone: (thrown: unknown) => boolean
  /** Resolves with whether the database answers at all. Never rejects. */
  isAlive: () => Promise<boolean>
  /** The round trip to the database, in milliseconds. */
  readonly roundTripMs: number
}
