import { keepPreviousData, queryOptions } from '@tanstack/react-query'
import { admin } from '../api'
import { pageQuery } from '../lists'
import { billingSearch, type TransactionFilter } from '../money-search'
import { textOf, type Search } from '../search'

export interface MovementSearch extends TransactionFilter {
  /** The id of a user or of an organization. */
  account?: string | undefined
}

export function toMovementSearch(search: Search): MovementSearch {
  const { type, status, from, to, page } = billingSearch(search)
  return { account: textOf(search, 'account'), type, status, from, to, page }
}

const isOrganization = (account: string) => account.startsWith('org_')

/** The account filter in the shape the API expects. */
export const ofAccount = (account: string) =>
  isOrganization(account) ? { organization_id: account } : { user_id: account }

/** The transactions of one account or of all. */
export const movementsQuery = ({ account, type, status, from, to, page }: MovementSearch) =>
  queryOptions({
    queryKey: ['operator', 'transactions', { account, type, status, from, to, page }],
    queryFn: async () => {
      const whose = account === undefined ? {} : ofAccount(account)
      const filter = { ...whose, type, status, start_date: from, end_date: to }
      const asked = pageQuery(filter, page)
      const { transactions, pagination } = await (await admin.transactions.$get(asked)).json()
      return { items: transactions, total: pagination.total }
    },
    placeholderData: keepPreviousData,
  })

export type Movement = Awaited<
  ReturnType<NonNullable<ReturnType<typeof movementsQuery>['queryFn']>>
>['items'][number]
