import { Anchor, Badge, Table, Text } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Money } from '../../../components/money'
import { ListTable } from '../../../components/list-table'
import { ResourceList } from '../../../components/resource-list'
import { When } from '../../../components/when'
import { formatCount } from '../../../format/figures'
import type { Rows } from '../../../api/paging'
import type { Transaction } from './queries'
import { transactionColors } from '../../billing/queries'

const columns = [
  { name: 'Description', place: 'title' },
  'Status',
  { name: 'Amount', isNumber: true, place: 'aside' },
  { name: 'Balance after', isNumber: true },
] as const

interface Props {
  query: UseQueryResult<Rows<Transaction>>
  isFiltered: boolean
  page: number
  onPage: (page: number) => void
  /** Whether the rows belong to several accounts. */
  ofAll?: boolean
}

/** A paged table of transactions. */
export const TransactionTable = ({ ofAll = false, page, onPage, ...list }: Props) => (
  <ResourceList
    {...list}
    rows={(transactions) => transactions}
    plural="transactions"
    empty={{ title: 'No transactions yet', text: 'Purchases, usage and grants appear here.' }}
    paging={{ page, onPage }}
  >
    {(transactions) => (
      <ListTable
        columns={ofAll ? ['Time', 'Account', ...columns] : ['Time', ...columns]}
        minWidth={ofAll ? 860 : 640}
      >
        {transactions.map((one) => (
          <Row key={`${one.id} ${one.type}`} one={one} ofAll={ofAll} />
        ))}
      </ListTable>
    )}
  </ResourceList>
)

const Row = ({ one, ofAll }: { one: Transaction; ofAll: boolean }) => (
  <Table.Tr>
    <Table.Td>
      <When at={one.created_at} />
    </Table.Td>
    {ofAll && (
      <Table.Td style={{ overflowWrap: 'anywhere' }}>
        <Payer one={one} />
      </Table.Td>
    )}
    <Table.Td style={{ overflowWrap: 'anywhere' }}>
      <Text size="sm">{one.description}</Text>
      <Text size="xs" c="dimmed">
        {one.type}
        {one.request_count !== undefined && ` · ${formatCount(one.request_count, 'request')}`}
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

/** The account of a transaction, with a link to its page if it exists. */
function Payer({ one }: { one: Transaction }) {
  const isOrganization = 'organization_id' in one
  const id = isOrganization ? one.organization_id : one.user_id
  // A deleted account has no page.
  if (one.payer_name === null) return <Text size="sm">{id}</Text>
  return (
    <Anchor
      size="sm"
      renderRoot={(props) =>
        isOrganization ? (
          <Link
            to="/operator/organizations/$id"
            params={{ id }}
            search={{ tab: 'credits' }}
            {...props}
          />
        ) : (
          <Link to="/operator/users/$id" params={{ id }} search={{ tab: 'credits' }} {...props} />
        )
      }
    >
      {one.payer_name}
    </Anchor>
  )
}
