import { sql, type Kysely } from 'kysely'
import type { Schema } from '../../../platform/db/schema'
import { toUsd } from '../../../wire/usd'

/** The documents of a payment. */
export interface PaymentDocuments {
  /** The page of the payment processor. */
  receipt_url: string | null
  invoice: { id: string; number: string } | null
  /** Totals are USD. */
  credit_notes: { id: string; number: string; total: number }[]
}

export const noDocuments: PaymentDocuments = { receipt_url: null, invoice: null, credit_notes: [] }

interface Row {
  payment_id: string
  receipt_url: string | null
  invoice_id: string | null
  number: string | null
}

interface Note {
  id: string
  number: string
  total: bigint
  corrects_id: string
}

/** Reads the documents of payments, by their ids. */
export async function readDocuments(
  db: Kysely<Schema>,
  ids: readonly string[],
): Promise<ReadonlyMap<string, PaymentDocuments>> {
  if (ids.length === 0) return new Map()
  const { rows } = await sql<Row>`
    select payment.id as payment_id, receipt_url, invoice.id as invoice_id, number
    from payment left join invoice on invoice.id = payment.invoice_id
    where payment.id = any(${ids}::text[])`.execute(db)
  const { rows: notes } = await sql<Note>`
    select id, number, total, corrects_id from invoice
    where corrects_id = any(${rows.flatMap(({ invoice_id: id }) => id ?? [])}::text[])
    order by id`.execute(db)
  return new Map(rows.map((row) => [row.payment_id, toDocuments(row, notes)]))
}

function toDocuments(row: Row, notes: readonly Note[]): PaymentDocuments {
  const { receipt_url, invoice_id: id, number } = row
  const own = notes.filter((note) => note.corrects_id === id)
  return {
    receipt_url,
    invoice: id === null || number === null ? null : { id, number },
    credit_notes: own.map((note) => ({
      id: note.id,
      number: note.number,
      total: toUsd(note.total),
    })),
  }
}
