import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, bodyOf, type Schemas } from '../../../api/client'
import { pageQuery } from '../../../api/paging'
import { oneOf, pageOf, textOf, toQuery, type Search } from '../../../url/search'
import { ofAccount } from '../credits/queries'

export type AnyInvoice = Schemas['AnyInvoice']

/** The types of documents, and the name of each. */
export const invoiceTypes = {
  purchase: 'Payment',
  usage: 'Usage',
  credit_note: 'Credit note',
} as const
type InvoiceType = keyof typeof invoiceTypes
const typeNames: readonly InvoiceType[] = ['purchase', 'usage', 'credit_note']

export interface InvoiceSearch {
  /** The id of a user or of an organization. */
  account?: string | undefined
  /** The beginning of the number. */
  number?: string | undefined
  type?: InvoiceType | undefined
  from?: string | undefined
  to?: string | undefined
  page?: number | undefined
}

/** Reads a month such as `2026-11`. */
function monthOf(search: Search, name: string): string | undefined {
  const text = textOf(search, name)
  return text !== undefined && /^20\d\d-(0[1-9]|1[0-2])$/.test(text) ? text : undefined
}

export const toInvoiceSearch = (search: Search): InvoiceSearch => ({
  account: textOf(search, 'account'),
  number: textOf(search, 'number'),
  type: oneOf(search, 'type', typeNames),
  from: monthOf(search, 'from'),
  to: monthOf(search, 'to'),
  page: pageOf(search),
})

const toFilter = ({ account, number, type, from, to }: InvoiceSearch) => ({
  ...(account !== undefined && ofAccount(account)),
  ...(number !== undefined && { number }),
  ...(type !== undefined && { type }),
  ...(from !== undefined && { from_month: from }),
  ...(to !== undefined && { to_month: to }),
})

/** The invoices and credit notes of all accounts. */
export const anyInvoicesQuery = (search: InvoiceSearch) =>
  queryOptions({
    queryKey: ['operator', 'invoices', search],
    queryFn: async () => {
      const query = pageQuery(toFilter(search), search.page)
      const { invoices, pagination } = await bodyOf(
        api.GET('/api/admin/invoices', { params: { query } }),
      )
      return { items: invoices, total: pagination.total }
    },
    placeholderData: keepPreviousData,
  })

/** Returns the address of the documents as CSV, and of one as a page to print. */
export function anyInvoiceTable(search: InvoiceSearch): string {
  const query = toQuery(toFilter(search)).toString()
  return query === '' ? '/api/admin/invoices.csv' : `/api/admin/invoices.csv?${query}`
}
export const anyInvoicePage = (id: string) => `/api/admin/invoices/${id}/page`
