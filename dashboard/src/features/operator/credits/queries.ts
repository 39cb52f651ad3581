import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { api, bodyOf, type Schemas } from '../../../api/client'
import { pageQuery } from '../../../api/paging'
import { transactionSearch, type TransactionFilter } from '../../../url/period'
import { textOf, type Search } from '../../../url/search'

export interface TransactionSearch extends TransactionFilter {
  /** The id of a user or of an organization. */
  account?: string | undefined
}

export function toTransactionSearch(search: Search): TransactionSearch {
  const { type, status, from, to, page } = transactionSearch(search)
  return { account: textOf(search, 'account'), type, status, from, to, page }
}

const isOrganization = (account: string) => account.startsWith('org_')

/** The account filter in the shape the API expects. */
export const ofAccount = (account: string) =>
  isOrganization(account) ? { organization_id: account } : { user_id: account }

/** The transactions of one account or of all. */
export const transactionsQuery = ({ account, type, status, from, to, page }: TransactionSearch) =>
  queryOptions({
    queryKey: ['operator', 'transactions', { account, type, status, from, to, page }],
    queryFn: async () => {
      const owner = account === undefined ? {} : ofAccount(account)
      const filter = { ...owner, type, status, start_date: from, end_date: to }
      const query = pageQuery(filter, page)
      const { transactions, pagination } = await bodyOf(
        api.GET('/api/admin/transactions', { params: { query } }),
      )
      return { items: transactions, total: pagination.total }
    },
    placeholderData: keepPreviousData,
  })

export type Transaction = Schemas['AnyTransaction']
