/** A lease and its account as they are after a statement about the lease. Amounts are nano-dollars. */
export interface LeaseAnswer {
  /** False where the lease was not as the statement said: nothing was changed. */
  isApplied: boolean
  /** Grows with each change that its node asks for. 0 for a lease that does not exist. */
  generation: number
  /** False where it has ended, or does not exist. */
  isActive: boolean
  /** The whole lease. */
  amount: bigint
  /** What the account has for any node. */
  available: bigint
  /** What other leases of the account have not spent, as far as is booked. */
  elsewhere: bigint
  /** The part of `elsewhere` whose nodes live and have not answered this node's last recall. */
  unanswered: bigint
  /** Whether the node is in line: it got less than it needs. */
  isWaiting: boolean
  /** The part of `available` that nodes wait for which were short before this one. */
  reserved: bigint
}

/** A row of the database's type `lease_answer`, as statements select it. */
export type LeaseAnswerRow = LeaseAnswer & { leaseId: string }

/** The columns of `lease_answer` by the names that they have here. */
export const answerColumns = `
  lease_id as "leaseId", is_applied as "isApplied", generation, is_active as "isActive", amount,
  available, elsewhere, unanswered, is_waiting as "isWaiting", reserved`

/** Answers by the ids of their leases. */
export const answersById = (rows: readonly LeaseAnswerRow[]): Map<string, LeaseAnswer> =>
  new Map(rows.map(({ leaseId, ...answer }) => [leaseId, answer]))
