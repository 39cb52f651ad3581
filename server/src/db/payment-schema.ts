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
  /** Nano-dollars: all of it, and what of it the ledger has. */
  amount: bigint
  booked: Generated<bigint>
  created_at: Created
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
  payment_event: PaymentEventRow
}
