import { z } from 'zod'
import { UsageBreakdown, UsageBreakdownFilter } from './breakdown-schema'
import { ForecastFilter, SpendForecast } from './forecast-schema'
import {
  Balance,
  BillingOwner,
  Checkout,
  CheckoutFields,
  Metrics,
  MetricsFilter,
  TransactionFilter,
  TransactionList,
} from './schema'
import { toStatement, toStatementCsv } from './statement-answer'
import { BillingStatement, StatementFilter } from './statement-schema'
import type { BillingStore } from './store'
import { permit } from '../../../auth/principal'
import { account } from '../../../http/access'
import { streamLines } from '../../../http/csv'
import { pageFields, toPage } from '../../../http/paging'
import { route, type Route } from '../../../http/route'

const tag = 'Billing'
const path = '/api/billing'

/** Billing of accounts and organizations. Source: contract 6.7. */
export const billingRoutes = (billing: BillingStore): Route[] => [
  getBalance(billing),
  listTransactions(billing),
  getBillingMetrics(billing),
  getUsageBreakdown(billing),
  getStatement(billing),
  exportStatement(billing),
  getSpendForecast(billing),
  createCheckout(billing),
]

const getBalance = (billing: BillingStore) =>
  route({
    method: 'get',
    path: `${path}/balance`,
    access: account('read', { tenant: 'organization' }),
    operationId: 'getBalance',
    tag,
    summary: 'Get the balance',
    notes:
      '`available_balance` is `balance` less the holds of running requests on all nodes, and may lag by seconds. The balance of an organization is for its owner and admins.',
    query: BillingOwner,
    responses: { 200: Balance },
    errors: ['resource_not_found'],
    handler: ({ principal, query }) => billing.balance(principal, query.organization_id),
  })

const listTransactions = (billing: BillingStore) =>
  route({
    method: 'get',
    path: `${path}/transactions`,
    access: account('read', { tenant: 'organization' }),
    operationId: 'listTransactions',
    tag,
    summary: 'List transactions',
    notes:
      'Newest first, pending checkouts included. A transaction of the type `usage` may cover several simultaneous requests: the request logs have the charge of each.',
    query: TransactionFilter.extend(pageFields),
    responses: { 200: TransactionList },
    errors: ['resource_not_found'],
    handler({ principal, query: { limit, offset, cursor, ...filter } }) {
      const scope = JSON.stringify(['billing', principal.userId, filter])
      return billing.transactions(principal, toPage({ limit, offset, cursor }, scope), filter)
    },
  })

const getBillingMetrics = (billing: BillingStore) =>
  route({
    method: 'get',
    path: `${path}/metrics`,
    access: account('read', { tenant: 'organization' }),
    operationId: 'getBillingMetrics',
    tag,
    summary: 'Get usage and cost metrics',
    notes:
      'By model and over time. Up to 366 days, by the hour up to 31. Intervals without requests are zero.',
    query: MetricsFilter,
    responses: { 200: Metrics },
    errors: ['resource_not_found'],
    handler: ({ principal, query }) => billing.metrics(principal, query),
  })

const getUsageBreakdown = (billing: BillingStore) =>
  route({
    method: 'get',
    path: `${path}/breakdown`,
    access: account('read', { tenant: 'organization' }),
    operationId: 'getUsageBreakdown',
    tag,
    summary: 'Get usage by one or two groupings',
    notes:
      'For whole days of a time zone, up to 366, and over time with `granularity`. `total` is the sum of `groups` and `other`, and of `time_series`. Usage of the last 89 days is kept by the hour, older usage by the day in UTC. Requests count as in `/api/billing/metrics`.',
    query: UsageBreakdownFilter,
    responses: { 200: UsageBreakdown },
    errors: ['resource_not_found'],
    handler: ({ principal, query }) => billing.breakdown(principal, query),
  })

const getStatement = (billing: BillingStore) =>
  route({
    method: 'get',
    path: `${path}/statement`,
    access: account('read', { tenant: 'organization' }),
    operationId: 'getStatement',
    tag,
    summary: 'Get the statement of a month',
    notes:
      'Opening balance, a line for each day with usage and for each purchase, grant, refund, dispute and correction, and closing balance: opening balance and lines make the closing balance exactly. Usage counts on the day on which its requests began. Months that began more than 89 days ago have days in UTC.',
    query: StatementFilter,
    responses: { 200: BillingStatement },
    errors: ['resource_not_found'],
    handler: async ({ principal, query }) => toStatement(await billing.statement(principal, query)),
  })

const exportStatement = (billing: BillingStore) =>
  route({
    method: 'get',
    path: `${path}/statement.csv`,
    access: account('read', { tenant: 'organization' }),
    operationId: 'exportStatement',
    tag,
    summary: 'Export the statement of a month as CSV',
    notes:
      'The lines of `GET /api/billing/statement`, between the opening and the closing balance.',
    query: StatementFilter,
    responses: {
      200: {
        description: 'Comma-separated values with a header, RFC 4180',
        content: { 'text/csv': z.string() },
      },
    },
    errors: ['resource_not_found'],
    handler: async ({ c, principal, query }) => {
      const statement = await billing.statement(principal, query)
      return c.body(streamLines(toStatementCsv(statement)), 200, {
        'content-type': 'text/csv; charset=utf-8',
      })
    },
  })

const getSpendForecast = (billing: BillingStore) =>
  route({
    method: 'get',
    path: `${path}/forecast`,
    access: account('read', { tenant: 'organization' }),
    operationId: 'getSpendForecast',
    tag,
    summary: 'Get the forecast of the spend of this month',
    notes:
      'Continues the pace of the last 7 days to the end of the month and of the balance. `forecast` is null where the balance paid on fewer than 3 of them.',
    query: ForecastFilter,
    responses: { 200: SpendForecast },
    errors: ['resource_not_found'],
    handler: ({ principal, query }) => billing.forecast(principal, query),
  })

const createCheckout = (billing: BillingStore) =>
  route({
    method: 'post',
    path: `${path}/checkout`,
    access: account('write', { tenant: 'organization' }),
    operationId: 'createCheckout',
    tag,
    summary: 'Create a checkout',
    notes:
      'Redirect the buyer to `url`, a page of the payment processor. The credit is added once the processor confirms the payment. Return URLs must be of this service, or allowed by the operator.',
    body: CheckoutFields,
    idempotency: billing.repeat,
    examples: { 'Twenty dollars': { amount: 20 } },
    responses: { 201: Checkout },
    errors: ['resource_not_found', 'provider_error', 'connection_failed', 'request_timeout'],
    handler({ c, principal, body, dispatched }) {
      if (body.organization_id !== undefined) permit(principal, 'admin')
      const { origin } = new URL(c.req.url)
      return billing.checkout(principal, body, { origin, dispatched })
    },
  })
