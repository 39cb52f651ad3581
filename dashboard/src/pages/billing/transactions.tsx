import { Badge, Paper, Stack, Table, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { ListTable } from '../../components/list-table'
import { transactionsOnPage, transactionsQuery, type Transaction } from '../../billing'
import { Loaded } from '../../components/loaded'
import { Money } from '../../components/money'
import { Pages } from '../../components/pages'
import { TransactionFilters } from '../../components/transaction-filters'
import { When } from '../../components/when'
import { counted } from '../../figures'
import { billingSearch } from '../../money-search'

const route = getRouteApi('/home/billing')
const colors = { completed: 'green', pending: 'blue', failed: 'red', expired: 'gray' } as const

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
  const isFiltered = [type, status, from, to].some((value) => value !== undefined)
  return (
    <Paper withBorder p="lg" component="section" aria-label="Transactions">
      <Stack gap="md">
        <Title order={2} size="h4">
          Transactions
        </Title>
        <TransactionFilters filter={{ type, status, from, to }} onChange={set} />
        <Loaded query={query}>
          {({ transactions, pagination }) => (
            <>
              {transactions.length === 0 ? (
                <Text size="sm" c="dimmed">
                  {isFiltered ? 'No transactions match these filters.' : 'No transactions yet.'}
                </Text>
              ) : (
                <TransactionTable transactions={transactions} />
              )}
              <Pages
                things="transactions"
                total={pagination.total}
                size={transactionsOnPage}
                page={page}
                onChange={(next) => void navigate({ search: (now) => ({ ...now, page: next }) })}
              />
            </>
          )}
        </Loaded>
      </Stack>
    </Paper>
  )
}

const TransactionTable = ({ transactions }: { transactions: readonly Transaction[] }) => (
  <ListTable
    columns={[
      'Time',
      { name: 'Description', place: 'title' },
      'Status',
      { name: 'Amount', isNumber: true, place: 'aside' },
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
        {one.request_count !== null && ` · ${counted(one.request_count, 'request')}`}
        {one.reference_id !== null && ` · ${one.reference_id}`}
      </Text>
    </Table.Td>
    <Table.Td>
      <Badge color={colors[one.status]} variant="dot">
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
