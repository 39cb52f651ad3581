import { sql, type Kysely } from 'kysely'
import type { Schema } from '../../../platform/db/schema'

/** The documents of a payment. */
export interface PaymentDocuments {
  /** The page of the payment processor. */
  receipt_url: string | null
  invoice: { id: string; number: string } | null
}

export const noDocuments: PaymentDocuments = { receipt_url: null, invoice: null }

/** Reads the documents of payments, by their ids. */
export async function readDocuments(
  db: Kysely<Schema>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, PaymentDocuments>> {
  if (ids.length === 0) return new Map()
  const { rows } = await sql<{
    id: string
    receipt_url: string | null
    invoice_id: string | null
    number: string | null
  }>`
    select payment.id, receipt_url, invoice.id as invoice_id, number
    from payment left join invoice on invoice.id = payment.invoice_id
    where payment.id = any(${ids}::text[])`.execute(db)
  return new Map(
    rows.map(({ id, receipt_url, invoice_id, number }) => [
      id,
      {
        receipt_url,
        invoice: invoice_id === null || number === null ? null : { id: invoice_id, number },
      },
    ]),
  )
}
