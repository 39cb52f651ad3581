import { sql, type Kysely } from 'kysely'
import type { AnyInvoice, AnyInvoiceFilter } from './schema'
import { ApiError } from '../../../errors'
import { toPaged, type Page } from '../../../http/paging'
import {
  listDocuments,
  readDocumentTable,
  type DocumentFilter,
} from '../../../invoices/list-documents'
import {
  findInvoice,
  type ListedInvoice,
  type StoredInvoice,
} from '../../../invoices/stored-invoice'
import { isId } from '../../../platform/db/id'
import type { Schema } from '../../../platform/db/schema'
import { toUsd, toUsdOrNull } from '../../../wire/usd'

export type AnyInvoiceStore = ReturnType<typeof createAnyInvoiceStore>

const toFilter = (filter: AnyInvoiceFilter): DocumentFilter => ({
  accountId: filter.organization_id ?? filter.user_id,
  kind: filter.type,
  number: filter.number,
  fromMonth: filter.from_month,
  toMonth: filter.to_month,
})

const toAnyInvoice = (row: ListedInvoice): AnyInvoice => ({
  id: row.id,
  number: row.number,
  type: row.kind,
  date: row.issued_on,
  month: row.kind === 'usage' ? row.subject : null,
  payment_id: row.payment_id,
  corrects:
    row.corrects_id === null || row.corrects_number === null
      ? null
      : { id: row.corrects_id, number: row.corrects_number },
  ...(isId('org', row.account_id)
    ? { payer: 'organization', organization_id: row.account_id }
    : { payer: 'personal', user_id: row.account_id }),
  buyer_name: row.buyer_name,
  currency: 'USD',
  total: toUsd(row.total),
  tax_amount: toUsdOrNull(row.tax_amount),
})

/** Invoices and credit notes of all accounts, for operators. */
export const createAnyInvoiceStore = (db: Kysely<Schema>) => ({
  async list(page: Page, filter: AnyInvoiceFilter) {
    const { total, rows } = await listDocuments(db, { filter: toFilter(filter), page })
    const { items, pagination } = toPaged(page, total, rows)
    return { invoices: items.map(toAnyInvoice), pagination }
  },
  /** Returns the rows of a table, which are read on demand. */
  table: (filter: AnyInvoiceFilter) => readDocumentTable(db, toFilter(filter)),
  /** Rejects with `resource_not_found`. */
  async find(id: string): Promise<StoredInvoice> {
    const { rows } = isId('invoice', id)
      ? await sql<{ accountId: string }>`
          select account_id as "accountId" from invoice where id = ${id}`.execute(db)
      : { rows: [] }
    const [owner] = rows
    const invoice = owner && (await findInvoice(db, { ...owner, id }))
    if (!invoice) throw new ApiError('resource_not_found')
    return invoice
  },
})
