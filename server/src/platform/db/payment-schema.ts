import type { ColumnType, Generated, GeneratedAlways } from 'kysely'
import type { CreatedColumn } from './column-types'

/** A payment to an account, which may still be pending. */
export interface PaymentRow {
  id: string
  /** Its position among the entries of the ledger. */
  position: GeneratedAlways<bigint>
  kind: 'checkout' | 'automatic'
  account_id: string
  /** The account that pays. */
  user_id: string
  /** Nano-dollars. */
  amount: bigint
  status: Generated<'pending' | 'failed' | 'expired' | 'completed'>
  /** The processor's id of the checkout. */
  session_id: string | null
  /** The processor's id of the payment. */
  payment_ref: string | null
  url: string | null
  /** The customer and payment method that an automatic payment charges, by the processor's ids. */
  customer_id: string | null
  method_id: string | null
  save_method: Generated<boolean>
  method_saved: Generated<boolean>
  failure: string | null
  /** The processor's page with the receipt; null where it has none, and until it was read. */
  receipt_url: string | null
  receipt_read: Generated<boolean>
  /** The invoice of the payment, once it is issued. */
  invoice_id: string | null
  /** Whether the processor computes the tax of the payment and has not reported it yet. */
  tax_pending: Generated<boolean>
  /** Nano-dollars, part of `amount`; null where the processor computed none. */
  tax: bigint | null
  expires_at: Generated<Date>
  created_at: CreatedColumn
  updated_at: ColumnType<Date, Date | undefined, Date>
}

/** A reversal of a payment by the processor: a charge's refunds, or a lost dispute. */
export interface PaymentReversalRow {
  id: string
  payment_ref: string
  kind: 'refund' | 'dispute'
  /** Nano-dollars: the highest total that the processor has reported, and the amount booked in the ledger. */
  amount: bigint
  booked: Generated<bigint>
  /** The number of ledger movements for it. */
  movements: Generated<number>
  /** The number of movements that have a credit note. */
  documented: Generated<number>
  created_at: CreatedColumn
}

/** A refund that the processor reported individually. */
export interface PaymentRefundRow {
  id: string
  /** The id of the charge's `PaymentReversalRow`. */
  reversal_id: string
  /** Nano-dollars. */
  amount: bigint
  /** Whether the processor failed to carry it out. */
  has_failed: boolean
  created_at: CreatedColumn
}

/** A payment about which the processor and the ledger disagree. */
export interface PaymentFindingRow {
  payment_ref: string
  kind: 'payment' | 'refund' | 'dispute'
  /** Nano-dollars: the amount according to the processor, and the amount booked in the ledger. */
  claimed: bigint
  booked: bigint
  found_at: CreatedColumn
  seen_at: ColumnType<Date, Date | undefined, Date>
}

/** The time of the last comparison of payments; one row. */
export interface PaymentComparisonRow {
  ran_at: ColumnType<Date, Date | undefined, Date>
}

/** An event of the processor that has been processed. */
export interface PaymentEventRow {
  id: string
  type: string
  received_at: CreatedColumn
}

export interface PaymentSchema {
  payment: PaymentRow
  payment_reversal: PaymentReversalRow
  payment_refund: PaymentRefundRow
  payment_finding: PaymentFindingRow
  payment_comparison: PaymentComparisonRow
  payment_event: PaymentEventRow
}
