/** Our name of a payment, as the processor gives it back; undefined where it knows none. */
type OwnId = string | undefined

/** What somebody paid for a payment of ours. Amounts are nano-dollars. */
export interface PaidFact {
  type: 'paid'
  id: OwnId
  /** The processor's name of the checkout, where there was one. */
  sessionId: string | undefined
  /** The processor's name of the payment. */
  paymentRef: string
  amount: bigint
  /** In lower case. */
  currency: string
}

/** A payment that did not happen, or not yet. */
export interface UnpaidFact {
  type: 'failed' | 'expired'
  id: OwnId
  sessionId: string | undefined
  /** In words, as far as the processor says. */
  reason: string | undefined
}

/** What the processor took back of a payment, in all. */
export interface Reversed {
  type: 'reversed'
  kind: 'refund' | 'dispute'
  /** The processor's name of the charge that was refunded, or of the dispute. */
  reversalId: string
  paymentRef: string
  amount: bigint
  currency: string
}

/** One refund: some are not carried out, days after they were made. */
export interface Refunded {
  type: 'refunded'
  refundId: string
  /** The processor's name of the charge, which `Reversed` has as its `reversalId`. */
  chargeId: string
  paymentRef: string
  amount: bigint
  currency: string
  /** The money came back to the house. */
  hasFailed: boolean
}

/** What an event of the processor says, in our words. */
export type Fact = PaidFact | UnpaidFact | Reversed | Refunded
