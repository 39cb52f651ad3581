import { Adjustment, Grant, Transaction, AnyTransactionFilter, TransactionList } from './schema'
import { operatorRoute, paging } from '../../../http/documentation'

const tag = 'Credits'
const reason = 'For the trial'

export const described = {
  grant: operatorRoute({
    operationId: 'grantCredits',
    summary: 'Give credit to an account or an organization',
    tag,
    status: 201,
    answer: Transaction,
    body: [
      'Grant',
      Grant,
      { 'To an account': { user_id: 'user_01k9z3t6c8q4v7x2m5n0p1r3s4', amount: 25, reason } },
    ],
    errors: ['resource_not_found'],
  }),
  adjust: operatorRoute({
    operationId: 'adjustCredits',
    summary: 'Correct a balance, up or down',
    tag,
    status: 201,
    answer: Transaction,
    body: [
      'Adjustment',
      Adjustment,
      { 'Take some back': { user_id: 'user_01k9z3t6c8q4v7x2m5n0p1r3s4', amount: -5, reason } },
    ],
    errors: ['resource_not_found'],
  }),
  list: operatorRoute({
    operationId: 'listAllTransactions',
    summary: 'What moved the balances of all accounts, newest first',
    tag,
    query: [...Object.keys(AnyTransactionFilter.shape), ...paging],
    answer: TransactionList,
  }),
}
