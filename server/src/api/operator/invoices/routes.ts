import { z } from 'zod'
import { AnyInvoiceFilter, AnyInvoiceList, ExportedInvoiceFilter } from './schema'
import type { AnyInvoiceStore } from './store'
import { operator } from '../../../http/access'
import { objectId } from '../../../http/answers'
import { answerTable } from '../../../http/download'
import { toPage } from '../../../http/paging'
import { route, type Route } from '../../../http/route'
import { invoicePolicy, toInvoicePage } from '../../../invoices/invoice-page'

const tag = 'Credits'
const access = operator({ roles: ['finance', 'read_only'] })
const path = '/api/admin/invoices'

/** Invoices and credit notes of all accounts, for the operator. Source: contract 9.2. */
export const anyInvoiceRoutes = (invoices: AnyInvoiceStore): Route[] => [
  listAllInvoices(invoices),
  exportAllInvoices(invoices),
  getAnyInvoicePage(invoices),
]

const listAllInvoices = (invoices: AnyInvoiceStore) =>
  route({
    method: 'get',
    path,
    access,
    operationId: 'listAllInvoices',
    tag,
    summary: 'List the invoices and credit notes of all accounts',
    notes: 'Newest first.',
    query: AnyInvoiceFilter,
    responses: { 200: AnyInvoiceList },
    handler: ({ query: { limit, offset, cursor, ...filter } }) =>
      invoices.list(
        toPage({ limit, offset, cursor }, `invoices ${JSON.stringify(filter)}`),
        filter,
      ),
  })

const exportAllInvoices = (invoices: AnyInvoiceStore) =>
  route({
    method: 'get',
    path: `${path}.csv`,
    access,
    operationId: 'exportAllInvoices',
    tag,
    summary: 'Export the invoices and credit notes of all accounts as CSV',
    notes:
      'Oldest first, with net, tax and total. The totals of credit notes are below zero, so that a column adds up.',
    query: ExportedInvoiceFilter,
    responses: {
      200: {
        description: 'Comma-separated values with a header, RFC 4180',
        content: { 'text/csv': z.string() },
      },
    },
    handler: ({ c, query }) => answerTable(c, invoices.table(query)),
  })

const getAnyInvoicePage = (invoices: AnyInvoiceStore) =>
  route({
    method: 'get',
    path: `${path}/:id/page`,
    access,
    operationId: 'getAnyInvoicePage',
    tag,
    summary: 'Get an invoice or a credit note of any account as a page to print',
    params: { id: objectId('invoice').describe('ID of the invoice') },
    responses: {
      200: { description: 'HTML', content: { 'text/html': z.string() } },
    },
    handler: async ({ c, params: { id } }) =>
      c.body(toInvoicePage(await invoices.find(id)), 200, {
        'content-type': 'text/html; charset=utf-8',
        'content-security-policy': invoicePolicy,
      }),
  })
