import { z } from 'zod'
import { Company, CompanyFields } from './company-schema'
import { Invoice, InvoiceFilter, InvoiceList } from './invoice-schema'
import type { InvoiceStore } from './invoice-store'
import { BillingOwner } from './schema'
import { permit } from '../../../auth/principal'
import { account } from '../../../http/access'
import { objectId } from '../../../http/answers'
import { answerTable } from '../../../http/download'
import { pageFields, toPage } from '../../../http/paging'
import { route, type Route } from '../../../http/route'
import { invoicePolicy, toInvoicePage } from '../../../invoices/invoice-page'

const tag = 'Billing'
const path = '/api/billing/invoices'
const companyPath = '/api/billing/company'
const params = { invoice_id: objectId('invoice').describe('ID of the invoice') }
const reading = account('read', { tenant: 'organization' })

/** Invoices of accounts and organizations, and the company on them. Source: contract 6.7. */
export const invoiceRoutes = (invoices: InvoiceStore): Route[] => [
  listInvoices(invoices),
  exportInvoices(invoices),
  getInvoice(invoices),
  getInvoicePage(invoices),
  getCompany(invoices),
  changeCompany(invoices),
]

const listInvoices = (invoices: InvoiceStore) =>
  route({
    method: 'get',
    path,
    access: reading,
    operationId: 'listInvoices',
    tag,
    summary: 'List invoices and credit notes',
    notes:
      'Newest first: one for each payment, and one for each month in which the balance paid for usage, a day after the month ends in UTC; and a credit note for each refund and lost dispute of a payment that has an invoice. Empty while the operator issues none.',
    query: InvoiceFilter.extend(pageFields),
    responses: { 200: InvoiceList },
    errors: ['resource_not_found'],
    handler({ principal, query: { limit, offset, cursor, ...filter } }) {
      const scope = JSON.stringify(['invoices', principal.userId, filter])
      return invoices.list(principal, toPage({ limit, offset, cursor }, scope), filter)
    },
  })

const exportInvoices = (invoices: InvoiceStore) =>
  route({
    method: 'get',
    path: `${path}.csv`,
    access: reading,
    operationId: 'exportInvoices',
    tag,
    summary: 'Export invoices and credit notes as CSV',
    notes: 'Oldest first. Totals of credit notes are negative, so that the column adds up.',
    query: InvoiceFilter,
    responses: {
      200: {
        description: 'Comma-separated values with a header, RFC 4180',
        content: { 'text/csv': z.string() },
      },
    },
    errors: ['resource_not_found'],
    handler: async ({ c, principal, query }) =>
      answerTable(c, await invoices.table(principal, query)),
  })

const getInvoice = (invoices: InvoiceStore) =>
  route({
    method: 'get',
    path: `${path}/:invoice_id`,
    access: reading,
    operationId: 'getInvoice',
    tag,
    summary: 'Get an invoice or a credit note',
    notes:
      'As it was issued: seller, buyer and lines never change. The invoice of an organization is for its owner and admins.',
    params,
    responses: { 200: Invoice },
    handler: ({ principal, params: { invoice_id: id } }) => invoices.get(principal, id),
  })

const getInvoicePage = (invoices: InvoiceStore) =>
  route({
    method: 'get',
    path: `${path}/:invoice_id/page`,
    access: reading,
    operationId: 'getInvoicePage',
    tag,
    summary: 'Get an invoice or a credit note as a page to print',
    notes: 'A page without scripts, which a browser prints or saves as PDF.',
    params,
    responses: {
      200: { description: 'HTML', content: { 'text/html': z.string() } },
    },
    handler: async ({ c, principal, params: { invoice_id: id } }) =>
      c.body(toInvoicePage(await invoices.find(principal, id)), 200, {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': invoicePolicy,
      }),
  })

const getCompany = (invoices: InvoiceStore) =>
  route({
    method: 'get',
    path: companyPath,
    access: reading,
    operationId: 'getCompany',
    tag,
    summary: 'Get the company on invoices',
    query: BillingOwner,
    responses: { 200: Company },
    errors: ['resource_not_found'],
    handler: ({ principal, query }) => invoices.company(principal, query.organization_id),
  })

const changeCompany = (invoices: InvoiceStore) =>
  route({
    method: 'put',
    path: companyPath,
    access: account('write', { tenant: 'organization' }),
    operationId: 'changeCompany',
    tag,
    summary: 'Update the company on invoices',
    notes:
      'Absent fields stay as they are. The company is on the next invoices; issued ones stay as they are. For an organization: its owner and admins, with the permission `admin`.',
    body: CompanyFields,
    examples: {
      'A company': {
        name: 'Example GmbH',
        address: ['Hauptstraße 1', '10115 Berlin'],
        country: 'DE',
        tax_id: 'DE123456789',
        email: 'invoices@example.com',
        purchase_order: 'PO-2026-17',
        mail_invoices: true,
        billing_email: 'accounting@example.com',
      },
    },
    responses: { 200: Company },
    errors: ['resource_not_found'],
    handler({ principal, body }) {
      if (body.organization_id !== undefined) permit(principal, 'admin')
      return invoices.changeCompany(principal, body)
    },
  })
