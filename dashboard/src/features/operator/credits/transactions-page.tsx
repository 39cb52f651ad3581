import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { TransactionTable } from './transaction-table'
import { Page } from '../../../components/page'
import { SearchBox } from '../../../components/search-box'
import { TransactionFilters } from '../../billing/transaction-filters'
import { transactionsQuery, toTransactionSearch } from './queries'

const route = getRouteApi('/home/operator/transactions')

export function TransactionsPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const change = (changed: object) =>
    void navigate({
      search: (now) => toTransactionSearch({ ...now, page: undefined, ...changed }),
      replace: true,
    })
  const { account, type, status, from, to, page = 1 } = search
  return (
    <Page title="Transactions" about="Transactions of all users and organizations.">
      <TransactionFilters filter={{ type, status, from, to }} onChange={change}>
        <SearchBox
          label="Account"
          placeholder="user_… or org_…"
          value={account}
          onSearch={(text) => change({ account: text })}
        />
      </TransactionFilters>
      <TransactionTable
        query={useQuery(transactionsQuery(search))}
        isFiltered={[account, type, status, from, to].some((value) => value !== undefined)}
        page={page}
        onPage={(next) => void navigate({ search: (now) => ({ ...now, page: next }) })}
        ofAll
      />
    </Page>
  )
}
