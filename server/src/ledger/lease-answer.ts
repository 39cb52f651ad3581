/** The state of a lease and its account after a statement about the lease. Amounts are nano-dollars. */
export interface LeaseAnswer {
  /** False where the lease was not in the state that the statement expected: nothing was changed. */
  isApplied: boolean
  /** Raised by each change that the node requests. 0 for a lease that does not exist. */
  generation: number
  /** False where it has ended, or does not exist. */
  isActive: boolean
  /** The amount of the whole lease. */
  amount: bigint
  /** Credit of the account that any node may take. */
  available: bigint
  /** Unspent credit in other leases of the account, as far as is booked. */
  onOtherNodes: bigint
  /** The part of `onOtherNodes` whose nodes live and have not answered this node's last reclaim. */
  unanswered: bigint
  /** Whether the node is in line, as it lacks what it needs. */
  isWaiting: boolean
  /** The part of `available` that is for nodes that were short before this one. */
  reserved: bigint
}

/** A row of the database's type `lease_answer`, as statements select it. */
export type LeaseAnswerRow = LeaseAnswer & { leaseId: string }

/** The columns of `lease_answer` by the names that they have here. */
export const answerColumns = `
  lease_id as "leaseId", is_applied as "isApplied", generation, is_active as "isActive", amount,
  available, elsewhere as "onOtherNodes", unanswered, is_waiting as "isWaiting", reserved`

/** Answers by the ids of their leases. */
export const answersById = (rows: readonly LeaseAnswerRow[]): Map<string, LeaseAnswer> =>
  new Map(rows.map(({ leaseId, ...answer }) => [leaseId, answer]))
