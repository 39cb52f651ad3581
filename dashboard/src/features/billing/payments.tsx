import { Anchor, Badge, Group, Paper, Stack, Table, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { ListTable } from '../../components/list-table'
import { transactionsQuery, type Transaction, transactionColors } from './queries'
import { Money } from '../../components/money'
import { ResourceList } from '../../components/resource-list'
import { InvoiceLink } from './invoice-link'
import { TransactionFilters } from './transaction-filters'
import { When } from '../../components/when'
import { billingSearch } from '../../url/period'

const route = getRouteApi('/home/billing')

/** The purchases of credits, those that failed or are pending too, which no statement has. */
export function Payments() {
  const { organization, status, from, to, page = 1 } = route.useSearch()
  const navigate = route.useNavigate()
  const query = useQuery(
    transactionsQuery(organization, { type: 'purchase', status, from, to, page }),
  )
  const set = (changed: object) =>
    void navigate({
      search: (now) => billingSearch({ ...now, page: undefined, ...changed }),
      replace: true,
    })
  return (
    <Paper withBorder p="lg" component="section" aria-label="Payments">
      <Stack gap="md">
        <Title order={2} size="h4">
          Payments
        </Title>
        <TransactionFilters filter={{ status, from, to }} onChange={set} hasTypes={false} />
        <ResourceList
          query={query}
          rows={({ transactions, pagination: { total } }) => ({ items: transactions, total })}
          plural="payments"
          empty="No payments yet."
          isFiltered={[status, from, to].some((value) => value !== undefined)}
          paging={{
            page,
            onPage: (next) => void navigate({ search: (now) => ({ ...now, page: next }) }),
          }}
        >
          {(transactions) => <PaymentTable payments={transactions} />}
        </ResourceList>
      </Stack>
    </Paper>
  )
}

const PaymentTable = ({ payments }: { payments: readonly Transaction[] }) => (
  <ListTable
    columns={[
      'Time',
      { name: 'Description', position: 'title' },
      'Status',
      'Documents',
      { name: 'Amount', isNumber: true, position: 'aside' },
    ]}
    minWidth={560}
  >
    {payments.map((one) => (
      <Row key={one.id} payment={one} />
    ))}
  </ListTable>
)

const Row = ({ payment: one }: { payment: Transaction }) => (
  <Table.Tr>
    <Table.Td>
      <When at={one.created_at} />
    </Table.Td>
    <Table.Td>
      <Text size="sm">{one.description}</Text>
      {one.reference_id !== null && (
        <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {one.reference_id}
        </Text>
      )}
    </Table.Td>
    <Table.Td>
      <Badge color={transactionColors[one.status]} variant="dot">
        {one.status}
      </Badge>
    </Table.Td>
    <Table.Td>
      <Group gap="xs">
        {one.invoice && <InvoiceLink invoice={one.invoice} />}
        {one.credit_notes.map((note) => (
          <InvoiceLink key={note.id} invoice={note} />
        ))}
        {one.receipt_url !== null && (
          <Anchor size="sm" href={one.receipt_url} target="_blank" rel="noreferrer">
            Receipt
          </Anchor>
        )}
      </Group>
    </Table.Td>
    <Table.Td ta="right">
      <Money amount={one.amount} />
    </Table.Td>
  </Table.Tr>
)
