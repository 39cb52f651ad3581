import type { Slice } from './slice'
import type { Lease } from './take-lease'

/** The ledger's database, as one account on one node sees it; every call has a deadline. */
export interface Bank {
  /** Rejects when the answer is not known; then `find` tells. */
  take: (slice: { leaseId: string; need: bigint; wish: bigint }) => Promise<Lease>
  /** The amount of an active lease, undefined when there is none. */
  find: (leaseId: string) => Promise<bigint | undefined>
  /** Prolongs a lease; false where it has ended. */
  renew: (leaseId: string) => Promise<boolean>
  /** Asks the other nodes to give back what they do not use. */
  recall: () => Promise<void>
  /** Resolves when something came to the account or another node is short too, or after `ms`. */
  creditWithin: (ms: number) => Promise<void>
  /** Gives back what is free of a slice, by whoever is at the account's lease work. Never rejects. */
  release: (slice: Slice) => Promise<void>
}
