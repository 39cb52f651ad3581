import type { ColumnType, Generated, GeneratedAlways } from 'kysely'

type Created = ColumnType<Date, Date | undefined, never>

/** Money on its way to an account. */
export interface PaymentRow {
  id: string
  /** Its place among the entries of the ledger. */
  position: GeneratedAlways<bigint>
  kind: 'checkout' | 'automatic'
  account_id: string
  /** Who pays. */
  user_id: string
  /** Nano-dollars. */
  amount: bigint
  status: Generated<'pending' | 'failed' | 'expired' | 'completed'>
  /** The processor's name of the checkout. */
  session_id: string | null
  /** The processor's name of the payment. */
  payment_ref: string | null
  url: string | null
  /** What an automatic one charges, by the processor's names. */
  customer_id: string | null
  method_id: string | null
  save_method: Generated<boolean>
  method_saved: Generated<boolean>
  failure: string | null
  expires_at: Generated<Date>
  created_at: Created
  updated_at: ColumnType<Date, Date | undefined, Date>
}

/** What a processor took back of a payment: a charge's refunds, or a dispute that was lost. */
export interface PaymentReversalRow {
  id: string
  payment_ref: string
  kind: 'refund' | 'dispute'
  /** Nano-dollars: the most that was told of in one sum, and what the ledger has. */
  amount: bigint
  booked: Generated<bigint>
  /** How often money moved for it. */
  movements: Generated<number>
  created_at: Created
}

/** A refund that was told of by itself. */
export interface PaymentRefundRow {
  id: string
  /** Of the charge's `PaymentReversalRow`. */
  reversal_id: string
  /** Nano-dollars. */
  amount: bigint
  /** The processor did not carry it out. */
  has_failed: boolean
  created_at: Created
}

/** Where the processor and the ledger disagree about a payment. */
export interface PaymentFindingRow {
  payment_ref: string
  kind: 'payment' | 'refund' | 'dispute'
  /** Nano-dollars that the processor says it moved, and that the ledger has. */
  claimed: bigint
  booked: bigint
  found_at: Created
  seen_at: ColumnType<Date, Date | undefined, Date>
}

/** When payments were last compared; one row. */
export interface PaymentComparisonRow {
  ran_at: ColumnType<Date, Date | undefined, Date>
}

/** An event of the processor that was acted on. */
export interface PaymentEventRow {
  id: string
  type: string
  received_at: Created
}

export interface PaymentSchema {
  payment: PaymentRow
  payment_reversal: PaymentReversalRow
  payment_refund: PaymentRefundRow
  payment_finding: PaymentFindingRow
  payment_comparison: PaymentComparisonRow
  payment_event: PaymentEventRow
}
