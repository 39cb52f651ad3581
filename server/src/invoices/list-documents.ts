import { sql, type Kysely, type RawBuilder } from 'kysely'
import {
  listedColumns,
  listedSource,
  type DocumentKind,
  type ListedInvoice,
} from './stored-invoice'
import { addMonths } from './month-lines'
import { formatSignedUsd } from '../wire/usd'
import type { Schema } from '../platform/db/schema'

/** Selects documents; an absent field selects all. */
export interface DocumentFilter {
  accountId?: string | undefined
  kind?: DocumentKind | undefined
  /** The beginning of the number. */
  number?: string | undefined
  /** The first and the last month of issue, such as `2026-11`. */
  fromMonth?: string | undefined
  toMonth?: string | undefined
}

/** Escapes a text for `like`. */
const literal = (text: string) => text.replaceAll(/[\\%_]/g, String.raw`\$&`)

function conditionOf(filter: DocumentFilter): RawBuilder<unknown> {
  const { accountId, kind, number, fromMonth, toMonth } = filter
  const conditions = [
    accountId !== undefined && sql`invoice.account_id = ${accountId}`,
    kind !== undefined && sql`invoice.kind = ${kind}`,
    number !== undefined && sql`invoice.number like ${`${literal(number)}%`}`,
    fromMonth !== undefined && sql`invoice.issued_on >= ${`${fromMonth}-01`}::date`,
    toMonth !== undefined && sql`invoice.issued_on < ${`${addMonths(toMonth, 1)}-01`}::date`,
  ].filter((condition) => condition !== false)
  return conditions.length === 0 ? sql`true` : sql.join(conditions, sql` and `)
}

interface Listing {
  filter: DocumentFilter
  page: { before: string | undefined; limit: number; offset: number }
}

/** Lists documents, newest first: one more than the page has, if there is one; and the number of all. */
export async function listDocuments(
  db: Kysely<Schema>,
  { filter, page: { before, limit, offset } }: Listing,
): Promise<{ total: bigint; rows: ListedInvoice[] }> {
  const isListed = conditionOf(filter)
  const [totals, { rows }] = await Promise.all([
    sql<{ total: bigint }>`select count(*) as total from invoice where ${isListed}`.execute(db),
    sql<ListedInvoice>`
      select ${listedColumns} from ${listedSource}
      where ${isListed} and ${before === undefined ? sql`true` : sql`invoice.id < ${before}`}
      order by invoice.id desc limit ${limit + 1} offset ${offset}`.execute(db),
  ])
  return { total: totals.rows[0]?.total ?? 0n, rows }
}

type Cell = string | number | null

const header: Cell[] = [
  'number',
  'type',
  'date',
  'account_id',
  'buyer',
  'buyer_country',
  'buyer_tax_id',
  'month',
  'payment_id',
  'corrects',
  'net',
  'tax',
  'tax_name',
  'tax_rate',
  'total',
  'currency',
]

interface TableRow extends ListedInvoice {
  buyer_country: string | null
  buyer_tax_id: string | null
  tax_name: string | null
  tax_rate: string | null
}

const toCells = (row: TableRow): Cell[] => [
  row.number,
  row.kind,
  row.issued_on,
  row.account_id,
  row.buyer_name,
  row.buyer_country,
  row.buyer_tax_id,
  row.kind === 'usage' ? row.subject : null,
  row.payment_id,
  row.corrects_number,
  row.tax_amount === null ? null : formatSignedUsd(row.total - row.tax_amount),
  row.tax_amount === null ? null : formatSignedUsd(row.tax_amount),
  row.tax_name,
  row.tax_rate,
  formatSignedUsd(row.total),
  'USD',
]

const batchSize = 500

/** Reads documents as the rows of a table below its header, oldest first, while they are sent. */
export async function* readDocumentTable(
  db: Kysely<Schema>,
  filter: DocumentFilter,
): AsyncGenerator<Cell[]> {
  yield header
  const isListed = conditionOf(filter)
  for (let after = ''; ;) {
    const { rows } = await sql<TableRow>`
      select ${listedColumns}, invoice.buyer ->> 'country' as buyer_country,
        invoice.buyer ->> 'tax_id' as buyer_tax_id,
        invoice.tax ->> 'name' as tax_name, invoice.tax ->> 'rate' as tax_rate
      from ${listedSource}
      where ${isListed} and invoice.id > ${after}
      order by invoice.id limit ${batchSize}`.execute(db)
    for (const row of rows) yield toCells(row)
    after = rows.at(-1)?.id ?? ''
    if (rows.length < batchSize) return
  }
}
