import { Badge, Paper, Stack, Table, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { ListTable } from '../../components/list-table'
import { transactionsQuery, type Transaction, transactionColors } from './queries'
import { Money } from '../../components/money'
import { ResourceList } from '../../components/resource-list'
import { TransactionFilters } from './transaction-filters'
import { When } from '../../components/when'
import { formatCount } from '../../format/figures'
import { billingSearch } from '../../url/period'

const route = getRouteApi('/home/billing')

/** The transactions of a balance. */
export function Transactions() {
  const { organization, type, status, from, to, page = 1 } = route.useSearch()
  const navigate = route.useNavigate()
  const query = useQuery(transactionsQuery(organization, { type, status, from, to, page }))
  const set = (changed: object) =>
    void navigate({
      search: (now) => billingSearch({ ...now, page: undefined, ...changed }),
      replace: true,
    })
  return (
    <Paper withBorder p="lg" component="section" aria-label="Transactions">
      <Stack gap="md">
        <Title order={2} size="h4">
          Transactions
        </Title>
        <TransactionFilters filter={{ type, status, from, to }} onChange={set} />
        <ResourceList
          query={query}
          rows={({ transactions, pagination: { total } }) => ({ items: transactions, total })}
          plural="transactions"
          empty="No transactions yet."
          isFiltered={[type, status, from, to].some((value) => value !== undefined)}
          paging={{
            page,
            onPage: (next) => void navigate({ search: (now) => ({ ...now, page: next }) }),
          }}
        >
          {(transactions) => <TransactionTable transactions={transactions} />}
        </ResourceList>
      </Stack>
    </Paper>
  )
}

const TransactionTable = ({ transactions }: { transactions: readonly Transaction[] }) => (
  <ListTable
    columns={[
      'Time',
      { name: 'Description', position: 'title' },
      'Status',
      { name: 'Amount', isNumber: true, position: 'aside' },
      { name: 'Balance after', isNumber: true },
    ]}
    minWidth={640}
  >
    {transactions.map((one) => (
      <Row key={`${one.id} ${one.type}`} transaction={one} />
    ))}
  </ListTable>
)

const Row = ({ transaction: one }: { transaction: Transaction }) => (
  <Table.Tr>
    <Table.Td>
      <When at={one.created_at} />
    </Table.Td>
    <Table.Td>
      <Text size="sm">{one.description}</Text>
      <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        {one.type}
        {one.request_count !== null && ` · ${formatCount(one.request_count, 'request')}`}
        {one.reference_id !== null && ` · ${one.reference_id}`}
      </Text>
    </Table.Td>
    <Table.Td>
      <Badge color={transactionColors[one.status]} variant="dot">
        {one.status}
      </Badge>
    </Table.Td>
    <Table.Td ta="right">
      <Money amount={one.amount} />
    </Table.Td>
    <Table.Td ta="right">
      {one.balance_after === null ? '–' : <Money amount={one.balance_after} />}
    </Table.Td>
  </Table.Tr>
)
