import type { Kysely } from 'kysely'
import type { BilledAccount } from './billed-account'
import type { Invoice, InvoiceFilter } from './invoice-schema'
import { ApiError } from '../../../errors'
import { toTimestamp } from '../../../http/fields'
import { toPaged, type Page } from '../../../http/paging'
import { listDocuments } from '../../../invoices/list-documents'
import {
  findInvoice,
  type ListedInvoice,
  type StoredInvoice,
} from '../../../invoices/stored-invoice'
import { isId } from '../../../platform/db/id'
import type { Schema } from '../../../platform/db/schema'
import { toUsd, toUsdOrNull } from '../../../wire/usd'

const toListed = (row: ListedInvoice, { organizationId }: BilledAccount) => ({
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
  organization_id: organizationId,
  currency: 'USD' as const,
  total: toUsd(row.total),
  tax_amount: toUsdOrNull(row.tax_amount),
})

/** Lists the invoices of a balance, newest first. */
export async function listInvoices(
  db: Kysely<Schema>,
  account: BilledAccount,
  { page, filter: { type } }: { page: Page; filter: InvoiceFilter },
) {
  const filter = { accountId: account.id, kind: type }
  const { total, rows } = await listDocuments(db, { filter, page })
  const { items, pagination } = toPaged(page, total, rows)
  return { invoices: items.map((row) => toListed(row, account)), pagination }
}

/** Finds an invoice of a balance. Rejects with `resource_not_found`. */
export async function requireInvoice(
  db: Kysely<Schema>,
  { id: accountId }: BilledAccount,
  id: string,
): Promise<StoredInvoice> {
  const invoice = isId('invoice', id) ? await findInvoice(db, { accountId, id }) : undefined
  if (!invoice) throw new ApiError('resource_not_found')
  return invoice
}

const toNumber = (count: bigint | null) => (count === null ? null : Number(count))

/** Converts an invoice to the form of the API. */
export const toInvoice = (invoice: StoredInvoice, account: BilledAccount): Invoice => ({
  ...toListed(invoice, account),
  paid_at: invoice.paid_at && toTimestamp(invoice.paid_at),
  amount_due: 0,
  net: toUsd(invoice.total - (invoice.tax_amount ?? 0n)),
  tax: invoice.tax,
  seller: invoice.seller,
  buyer: invoice.buyer,
  lines: invoice.lines.map((line) => ({
    description: line.description,
    month: line.month,
    model: line.model,
    requests: toNumber(line.requests),
    input_tokens: toNumber(line.input_tokens),
    output_tokens: toNumber(line.output_tokens),
    amount: toUsd(line.amount),
  })),
})
