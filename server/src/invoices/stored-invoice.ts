import { sql, type Kysely, type RawBuilder } from 'kysely'
import { Buyer, Seller } from './party'
import { TaxTerms } from './tax'
import type { InvoiceLineRow } from '../platform/db/invoice-schema'
import type { Schema } from '../platform/db/schema'

export const documentKinds = ['purchase', 'usage', 'credit_note'] as const
export type DocumentKind = (typeof documentKinds)[number]

/** A document without its lines. */
export interface ListedInvoice {
  id: string
  account_id: string
  kind: DocumentKind
  subject: string
  number: string
  /** A day, such as `2026-12-02`. */
  issued_on: string
  paid_at: Date | null
  /** Nano-dollars; below zero for a credit note. */
  total: bigint
  /** The part of it that is tax; null where none is shown. */
  tax_amount: bigint | null
  /** The payment of a purchase, or of the invoice that a credit note corrects. */
  payment_id: string | null
  /** The invoice that a credit note corrects. */
  corrects_id: string | null
  corrects_number: string | null
  buyer_name: string
}

/** A document as it was issued. */
export interface StoredInvoice extends ListedInvoice {
  seller: Seller
  buyer: Buyer
  tax: TaxTerms | null
  lines: Omit<InvoiceLineRow, 'invoice_id' | 'position' | 'account_id'>[]
}

/** The columns of a `ListedInvoice`, from `listedSource`. */
export const listedColumns: RawBuilder<unknown> = sql`
  invoice.id, invoice.account_id, invoice.kind, invoice.subject, invoice.number,
  to_char(invoice.issued_on, 'YYYY-MM-DD') as issued_on, invoice.paid_at, invoice.total,
  invoice.tax_amount, invoice.corrects_id, corrected.number as corrects_number,
  invoice.buyer ->> 'name' as buyer_name,
  case invoice.kind when 'purchase' then invoice.subject else corrected.subject end as payment_id`

/** Documents, each with the invoice that it corrects. */
export const listedSource: RawBuilder<unknown> = sql`
  invoice left join invoice as corrected on corrected.id = invoice.corrects_id`

/** Reads a document of an account. */
export async function findInvoice(
  db: Kysely<Schema>,
  { accountId, id }: { accountId: string; id: string },
): Promise<StoredInvoice | undefined> {
  const { rows } = await sql<ListedInvoice & { seller: unknown; buyer: unknown; tax: unknown }>`
    select ${listedColumns}, invoice.seller, invoice.buyer, invoice.tax from ${listedSource}
    where invoice.id = ${id} and invoice.account_id = ${accountId}`.execute(db)
  const [row] = rows
  if (!row) return undefined
  const lines = await db
    .selectFrom('invoice_line')
    .select([
      'description',
      'month',
      'model',
      'requests',
      'input_tokens',
      'output_tokens',
      'amount',
    ])
    .where('invoice_id', '=', id)
    .orderBy('position')
    .execute()
  return {
    ...row,
    seller: Seller.parse(row.seller),
    buyer: Buyer.parse(row.buyer),
    tax: row.tax === null ? null : TaxTerms.parse(row.tax),
    lines,
  }
}
