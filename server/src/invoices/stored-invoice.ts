import { sql, type Kysely, type RawBuilder } from 'kysely'
import { Buyer, Seller } from './party'
import type { InvoiceLineRow } from '../platform/db/invoice-schema'
import type { Schema } from '../platform/db/schema'

/** A document without its lines. */
export interface ListedInvoice {
  id: string
  account_id: string
  kind: 'purchase' | 'usage'
  subject: string
  number: string
  /** A day, such as `2026-12-02`. */
  issued_on: string
  paid_at: Date | null
  /** Nano-dollars. */
  total: bigint
}

/** A document as it was issued. */
export interface StoredInvoice extends ListedInvoice {
  seller: Seller
  buyer: Buyer
  lines: Omit<InvoiceLineRow, 'invoice_id' | 'position' | 'account_id'>[]
}

/** The columns of a `ListedInvoice`. */
export const listedColumns: RawBuilder<unknown> = sql`
  id, account_id, kind, subject, number, to_char(issued_on, 'YYYY-MM-DD') as issued_on, paid_at, total`

/** Reads a document of an account. */
export async function findInvoice(
  db: Kysely<Schema>,
  { accountId, id }: { accountId: string; id: string },
): Promise<StoredInvoice | undefined> {
  const { rows } = await sql<ListedInvoice & { seller: unknown; buyer: unknown }>`
    select ${listedColumns}, seller, buyer from invoice
    where id = ${id} and account_id = ${accountId}`.execute(db)
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
  return { ...row, seller: Seller.parse(row.seller), buyer: Buyer.parse(row.buyer), lines }
}
