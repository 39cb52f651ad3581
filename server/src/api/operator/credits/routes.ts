import { Adjustment, AnyTransactionFilter, Grant, Transaction, TransactionList } from './schema'
import type { CreditStore } from './store'
import { operator } from '../../../http/access'
import { toPage } from '../../../http/paging'
import { route, type Route } from '../../../http/route'

const tag = 'Credits'
const example = { user_id: 'user_01k9z3t6c8q4v7x2m5n0p1r3s4', reason: 'For the trial' }

/** Credits, for the operator. Source: contract 6.7, 9.2. */
export const creditRoutes = (credits: CreditStore): Route[] => [
  grantCredits(credits),
  adjustCredits(credits),
  listAllTransactions(credits),
]

const grantCredits = (credits: CreditStore) =>
  route({
    method: 'post',
    path: '/api/admin/credits/grant',
    access: operator({ roles: ['finance'] }),
    operationId: 'grantCredits',
    tag,
    summary: 'Grant credit to an account or an organization',
    body: Grant,
    examples: { 'To an account': { ...example, amount: 25 } },
    responses: { 201: Transaction },
    handler: ({ body }) => credits.grant(body),
  })

const adjustCredits = (credits: CreditStore) =>
  route({
    method: 'post',
    path: '/api/admin/credits/adjust',
    access: operator({ roles: ['finance'] }),
    operationId: 'adjustCredits',
    tag,
    summary: 'Adjust a balance',
    notes: 'A negative amount lowers it.',
    body: Adjustment,
    examples: { 'A correction downward': { ...example, amount: -5 } },
    responses: { 201: Transaction },
    handler: ({ body }) => credits.adjust(body),
  })

const listAllTransactions = (credits: CreditStore) =>
  route({
    method: 'get',
    path: '/api/admin/transactions',
    access: operator({ roles: ['support', 'finance', 'read_only'] }),
    operationId: 'listAllTransactions',
    tag,
    summary: 'List the transactions of all accounts',
    notes: 'Newest first.',
    query: AnyTransactionFilter,
    responses: { 200: TransactionList },
    handler: ({ query }) => {
      const { limit, offset, cursor, ...filter } = query
      const page = toPage({ limit, offset, cursor }, `transactions ${JSON.stringify(filter)}`)
      return credits.list(page, filter)
    },
  })
