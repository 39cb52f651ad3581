/** A request's demand for credit. Amounts are nano-dollars. */
export interface CreditDemand {
  /** Its worst case. */
  full: bigint
  /** The worst case with the least output that is worth a request; at most `full`. */
  floor: bigint
  /** The amount that the whole account must have, on all nodes; 0 for a hold that extends another. */
  minimum: bigint
}

/**
 * Thrown when the account has too little credit, on all nodes. Amounts are nano-dollars. More is `available` than needed
 * where a node has leased it that did not answer.
 */
export class InsufficientCredit extends Error {
  override readonly name = 'InsufficientCredit'
  readonly available: bigint
  readonly neededAmount: bigint

  constructor(available: bigint, neededAmount: bigint) {
    super('not enough credit')
    this.available = available
    this.neededAmount = neededAmount
  }
}

/** Returns the larger of two amounts. */
export const maxAmount = (a: bigint, b: bigint) => (a > b ? a : b)
