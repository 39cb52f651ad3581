import { sql, type Kysely, type Transaction } from 'kysely'
import { mailDocument } from './mail-document'
import type { Buyer, Seller } from './party'
import type { DocumentKind } from './stored-invoice'
import type { StoredTax } from './tax'
import { newId } from '../platform/db/id'
import type { InvoiceLineRow } from '../platform/db/invoice-schema'
import type { Schema } from '../platform/db/schema'

export type InvoiceLine = Omit<InvoiceLineRow, 'invoice_id' | 'position' | 'account_id'>

/** A line that is not of usage has none of its figures. */
export const lineOfMoney = {
  month: null,
  model: null,
  requests: null,
  input_tokens: null,
  output_tokens: null,
}

/** The payment, the month of an account, or the movement of a refund, that a document is of. */
interface DocumentSubject {
  accountId: string
  kind: DocumentKind
  subject: string
  paidAt: Date | null
}

/** The content of a document, apart from its number. */
export interface DocumentContent {
  lines: readonly InvoiceLine[]
  seller: Seller
  buyer: Buyer
  /** Undefined where none is shown. */
  tax?: StoredTax | undefined
  /** The invoice that a credit note corrects. */
  corrects?: { id: string; number: string }
}

/** The series of a document, and the public address of the service, which its mail links to. */
interface Issue {
  prefix: string
  address: string
  document: DocumentSubject
}

/** A place in the numbers of a year. */
interface Place {
  number: string
  /** A day, such as `2026-12-02`. */
  date: string
}

/** Takes the next number, and keeps others from it until the transaction ends. Later numbers have no earlier date. */
async function takeNumber(
  trx: Transaction<Schema>,
  { prefix, year }: { prefix: string; year: number },
): Promise<Place> {
  const { rows } = await sql<{ last_number: number; last_date: string }>`
    update invoice_series set last_number = last_number + 1,
      last_date = greatest(last_date, (clock_timestamp() at time zone 'UTC')::date)
    where prefix = ${prefix} and year = ${year}
    returning last_number, to_char(last_date, 'YYYY-MM-DD') as last_date`.execute(trx)
  const [row] = rows
  if (!row) throw new Error(`there is no series ${prefix} of ${year}`)
  return {
    number: `${prefix}-${year}-${String(row.last_number).padStart(6, '0')}`,
    date: row.last_date,
  }
}

/** Locks the numbers of this year, in UTC; resolves with it. */
async function lockSeries(trx: Transaction<Schema>, prefix: string): Promise<number> {
  const { rows } = await sql<{ year: number }>`
    select extract(year from clock_timestamp() at time zone 'UTC')::integer as year`.execute(trx)
  const year = rows[0]?.year ?? 0
  await sql`
    insert into invoice_series (prefix, year, last_number, last_date)
    values (${prefix}, ${year}, 0, make_date(${year}::integer, 1, 1))
    on conflict do nothing`.execute(trx)
  await sql`
    select from invoice_series where prefix = ${prefix} and year = ${year} for update`.execute(trx)
  return year
}

const isIssued = async (
  trx: Transaction<Schema>,
  { accountId, kind, subject }: DocumentSubject,
): Promise<boolean> =>
  (await trx
    .selectFrom('invoice')
    .select('id')
    .where('account_id', '=', accountId)
    .where('kind', '=', kind)
    .where('subject', '=', subject)
    .executeTakeFirst()) !== undefined

/**
 * Issues a document, once, with the next number. The number, the document and its lines are one transaction, so that no
 * number is lost. `readContent` is called once others have to wait. Resolves with the id; with undefined where the document
 * is there, or would have no lines.
 */
export const issueDocument = (
  db: Kysely<Schema>,
  { prefix, address, document }: Issue,
  readContent: (trx: Transaction<Schema>) => Promise<DocumentContent>,
): Promise<string | undefined> =>
  db.transaction().execute(async (trx) => {
    const year = await lockSeries(trx, prefix)
    // Another node may have issued it while this one waited.
    if (await isIssued(trx, document)) return undefined
    const content = await readContent(trx)
    if (content.lines.length === 0) return undefined
    const place = await takeNumber(trx, { prefix, year })
    const id = await insertDocument(trx, document, { ...content, ...place })
    await mailDocument(trx, {
      id,
      accountId: document.accountId,
      kind: document.kind,
      number: place.number,
      total: totalOf(content),
      tax: content.tax?.terms ?? null,
      tax_amount: content.tax?.amount ?? null,
      seller: content.seller,
      corrects_number: content.corrects?.number ?? null,
      address,
    })
    return id
  })

const totalOf = ({ lines }: Pick<DocumentContent, 'lines'>) =>
  lines.reduce((sum, { amount }) => sum + amount, 0n)

async function insertDocument(
  trx: Transaction<Schema>,
  { accountId, kind, subject, paidAt }: DocumentSubject,
  { lines, seller, buyer, tax, corrects, number, date }: DocumentContent & Place,
): Promise<string> {
  const id = newId('invoice')
  await sql`
    insert into invoice (id, account_id, kind, subject, number, issued_on, paid_at, total, seller, buyer,
      corrects_id, tax_amount, tax)
    values (${id}, ${accountId}, ${kind}, ${subject}, ${number}, ${date}, ${paidAt},
      ${totalOf({ lines })},
      ${JSON.stringify(seller)}, ${JSON.stringify(buyer)},
      ${corrects?.id ?? null}, ${tax?.amount ?? null}, ${tax ? JSON.stringify(tax.terms) : null})`.execute(
    trx,
  )
  await trx
    .insertInto('invoice_line')
    .values(
      lines.map((line, index) => ({
        ...line,
        invoice_id: id,
        position: index + 1,
        account_id: accountId,
      })),
    )
    .execute()
  if (kind === 'purchase') {
    await trx.updateTable('payment').set({ invoice_id: id }).where('id', '=', subject).execute()
  }
  return id
}
