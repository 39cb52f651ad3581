import type { ColumnType, Generated } from 'kysely'
import type { CreatedColumn, UpdatedColumn } from './column-types'

/** The data of a company on its invoices: of an account, or of an organization. */
export interface CompanyRow {
  account_id: string
  /** Null where the name of the account or organization stands. */
  name: string | null
  address: ColumnType<string[], readonly string[], readonly string[]>
  /** ISO 3166-1 alpha-2. */
  country: string | null
  tax_id: string | null
  email: string | null
  purchase_order: string | null
  /** The address that documents are mailed to; null where `email` stands. */
  billing_email: string | null
  /** Whether documents are mailed. */
  mail_invoices: Generated<boolean>
  updated_at: UpdatedColumn
}

/** The numbers of invoices of one seller and year. */
export interface InvoiceSeriesRow {
  /** The seller's own beginning of numbers. */
  prefix: string
  year: number
  last_number: number
  last_date: Date
}

/** A document that was issued; it never changes. */
export interface InvoiceRow {
  id: string
  account_id: string
  kind: 'purchase' | 'usage' | 'credit_note'
  /** The payment of a purchase; the month of usage, such as `2026-11`; of a credit note, the ledger's name of the movement. */
  subject: string
  number: string
  issued_on: Date
  /** When a purchase was paid; null for usage. */
  paid_at: Date | null
  /** Nano-dollars; below zero for a credit note. */
  total: bigint
  /** The invoice that a credit note corrects. */
  corrects_id: string | null
  /** The tax in `total`; null where none is shown. */
  tax_amount: bigint | null
  tax: ColumnType<unknown, string | null, never>
  /** Seller and buyer as they were when it was issued. */
  seller: ColumnType<unknown, string, never>
  buyer: ColumnType<unknown, string, string>
  created_at: CreatedColumn
}

export interface InvoiceLineRow {
  invoice_id: string
  /** From 1. */
  position: number
  account_id: string
  description: string
  /** Of usage: its month, which is an earlier one than the document's where it was booked late. */
  month: string | null
  model: string | null
  requests: bigint | null
  input_tokens: bigint | null
  output_tokens: bigint | null
  /** Nano-dollars. */
  amount: bigint
}

/** A view of usage that was saved by its name: of an account, or for the managers of an organization. */
export interface SavedViewRow {
  id: string
  user_id: string | null
  organization_id: string | null
  name: string
  parameters: ColumnType<Record<string, unknown>, string, string>
  created_at: CreatedColumn
  updated_at: UpdatedColumn
}

export interface InvoiceSchema {
  company: CompanyRow
  invoice_series: InvoiceSeriesRow
  invoice: InvoiceRow
  invoice_line: InvoiceLineRow
  saved_view: SavedViewRow
}
