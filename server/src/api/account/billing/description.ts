import { Balance, Checkout, Metrics, CheckoutFields, TransactionList } from './schema'
import { accountRoute, paging } from '../../../http/documentation'

const tag = 'Billing'

export const getBalance = accountRoute({
  operationId: 'getBalance',
  summary: 'What an account has',
  tag,
  query: ['organization_id'],
  answer: Balance,
  errors: ['resource_not_found'],
})

export const listTransactions = accountRoute({
  operationId: 'listTransactions',
  summary: 'What moved a balance, newest first, and checkouts that did not yet',
  tag,
  query: ['organization_id', 'type', 'status', 'start_date', 'end_date', ...paging],
  answer: TransactionList,
  errors: ['resource_not_found'],
})

export const getBillingMetrics = accountRoute({
  operationId: 'getBillingMetrics',
  summary: 'What was used and paid, by model and over time',
  tag,
  query: ['organization_id', 'period', 'start_date', 'end_date', 'granularity'],
  answer: Metrics,
  errors: ['resource_not_found'],
})

export const createCheckout = accountRoute({
  operationId: 'createCheckout',
  summary: 'Open a page at the payment processor to buy credits',
  tag,
  isRepeatable: true,
  status: 201,
  body: ['NewCheckout', CheckoutFields, { 'Twenty dollars': { amount: 20 } }],
  answer: Checkout,
  errors: ['resource_not_found', 'provider_error', 'connection_failed', 'request_timeout'],
})
