/** Our name of a payment, as the processor returns it; undefined where it knows none. */
type OwnId = string | undefined

/** A completed payment of ours. Amounts are nano-dollars. */
export interface PaidFact {
  type: 'paid'
  id: OwnId
  /** The processor's id of the checkout, where there was one. */
  sessionId: string | undefined
  /** The processor's id of the payment. */
  paymentRef: string
  amount: bigint
  /** In lower case. */
  currency: string
  /** The tax in it, where the processor computed it. */
  tax?: bigint | undefined
}

/** A payment that failed or expired. */
export interface UnpaidFact {
  type: 'failed' | 'expired'
  id: OwnId
  sessionId: string | undefined
  /** A readable reason, as far as the processor gives one. */
  reason: string | undefined
}

/** The sum that the processor took back of a payment. */
export interface ReversalFact {
  type: 'reversed'
  kind: 'refund' | 'dispute'
  /** The processor's id of the refunded charge, or of the dispute. */
  reversalId: string
  paymentRef: string
  amount: bigint
  currency: string
}

/** One refund: some fail days after they were made. */
export interface RefundFact {
  type: 'refunded'
  refundId: string
  /** The processor's id of the charge, which `ReversalFact` has as its `reversalId`. */
  chargeId: string
  paymentRef: string
  amount: bigint
  currency: string
  /** The money was returned to the house. */
  hasFailed: boolean
}

/** A fact about a payment, read from an event of the processor. */
export type Fact = PaidFact | UnpaidFact | ReversalFact | RefundFact
