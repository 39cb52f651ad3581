import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, bodyOf, type Schemas } from '../../api/client'
import { pageQuery } from '../../api/paging'
import { present } from '../../url/search'

export type ListedInvoice = Schemas['ListedInvoice']
export type Company = Schemas['Company']

/** The invoices of a balance. */
export const invoicesQuery = (organization: string | undefined, page: number) =>
  queryOptions({
    queryKey: ['billing', 'invoices', organization, page],
    queryFn: async () => {
      const query = pageQuery(present({ organization_id: organization }), page)
      return bodyOf(api.GET('/api/billing/invoices', { params: { query } }))
    },
    placeholderData: keepPreviousData,
  })

/** The company on the next invoices of an account or organization. */
export const companyQuery = (organization: string | undefined) =>
  queryOptions({
    queryKey: ['billing', 'company', organization],
    queryFn: async () => {
      const query = present({ organization_id: organization })
      return bodyOf(api.GET('/api/billing/company', { params: { query } }))
    },
  })

/** Returns the address of an invoice as a page to print, and as JSON. */
export const invoicePage = (id: string) => `/api/billing/invoices/${id}/page`
export const invoiceFile = (id: string) => `/api/billing/invoices/${id}`

/** Returns the address of all invoices of a balance as CSV. */
export const invoiceTable = (organization: string | undefined) =>
  organization === undefined
    ? '/api/billing/invoices.csv'
    : `/api/billing/invoices.csv?organization_id=${encodeURIComponent(organization)}`
