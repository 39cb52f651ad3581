import { Badge, Paper, Stack, Table, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ListTable } from '../../components/list-table'
import { ResourceList } from '../../components/resource-list'
import { When } from '../../components/when'
import { allRows } from '../../api/paging'
import { quotaNames, quotaRequestsQuery, type QuotaRequest, requestColors } from './queries'
import { inUnit } from './quota-bar'

/** The account's requests for limit increases, with their decisions. */
export function OwnRequests() {
  const query = useQuery(quotaRequestsQuery)
  return (
    <Paper withBorder p="lg" component="section" aria-label="Increase requests">
      <Stack gap="sm">
        <Title order={2} size="h4">
          Increase requests
        </Title>
        <ResourceList
          query={query}
          rows={(requests) => allRows(requests)}
          plural="requests"
          empty="No requests yet. Use “Request increase” beside a limit."
        >
          {(requests) => <RequestTable requests={requests} />}
        </ResourceList>
      </Stack>
    </Paper>
  )
}

const RequestTable = ({ requests }: { requests: readonly QuotaRequest[] }) => (
  <ListTable
    columns={['Limit', 'Requested', { name: 'Status', position: 'aside' }, 'Sent']}
    minWidth={560}
  >
    {requests.map((one) => (
      <Row key={one.id} request={one} />
    ))}
  </ListTable>
)

function Row({ request: one }: { request: QuotaRequest }) {
  const unit = one.quota_type === 'monthly_spend' ? 'usd' : 'requests'
  return (
    <Table.Tr>
      <Table.Td>
        <Text size="sm">{quotaNames[one.quota_type]}</Text>
        <Text size="xs" c="dimmed" maw={320} style={{ overflowWrap: 'anywhere' }}>
          {one.reason}
        </Text>
      </Table.Td>
      <Table.Td>
        {inUnit(unit, one.requested_limit)}
        <Text size="xs" c="dimmed">
          currently {inUnit(unit, one.current_limit)}
        </Text>
      </Table.Td>
      <Table.Td>
        <Badge color={requestColors[one.status]} variant="dot">
          {one.status}
        </Badge>
        {one.decision_note !== null && (
          <Text size="xs" c="dimmed" maw={260}>
            {one.decision_note}
          </Text>
        )}
      </Table.Td>
      <Table.Td>
        <When at={one.created_at} />
      </Table.Td>
    </Table.Tr>
  )
}
