import { Anchor, Badge, Button, Group, Select, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Decide } from './decision-form'
import { Filters } from '../../../components/filters'
import { Page } from '../../../components/page'
import { ListTable } from '../../../components/list-table'
import { Permitted } from '../../../components/permitted'
import { ResourceList } from '../../../components/resource-list'
import { SearchBox } from '../../../components/search-box'
import { When } from '../../../components/when'
import { formatLimit } from './limit-text'
import { decisions, decisionsQuery, toDecisionSearch, type DecidedQuotaRequest } from './queries'
import { quotaNames, requestColors } from '../../quota/queries'

const route = getRouteApi('/home/operator/quota-requests')
const names = {
  pending: 'Pending',
  approved: 'Approved',
  rejected: 'Rejected',
  all: 'All',
} as const
const columns = [
  'Account',
  'Limit',
  'Requested',
  { name: 'Status', place: 'aside' },
  'Sent',
  { name: 'Decision', place: 'wide' },
] as const

export function QuotaRequestsPage() {
  const search = route.useSearch()
  const { status = 'pending', page = 1 } = search
  const navigate = route.useNavigate()
  const change = (changed: object) =>
    void navigate({
      search: (now) => toDecisionSearch({ ...now, page: undefined, ...changed }),
      replace: true,
    })
  return (
    <Page title="Quota requests" about="Requests for higher limits than those of the plan.">
      <Filters>
        <SearchBox
          aria-label="Search requests"
          placeholder="Email or reason"
          value={search.search}
          onSearch={(text) => change({ search: text })}
        />
        <Select
          aria-label="Status"
          allowDeselect={false}
          data={decisions.map((value) => ({ value, label: names[value] }))}
          value={status}
          onChange={(value) => change({ status: value })}
        />
      </Filters>
      <ResourceList
        rows={(list) => list}
        query={useQuery(decisionsQuery(search))}
        plural="requests"
        empty={{
          title: status === 'pending' ? 'No pending requests' : 'No requests',
          text: 'Accounts request limit increases on their quota page.',
        }}
        isFiltered={search.search !== undefined}
        paging={{
          page: page,
          onPage: (next) => void navigate({ search: (now) => ({ ...now, page: next }) }),
        }}
      >
        {(requests) => (
          <ListTable columns={columns} minWidth={980}>
            {requests.map((request) => (
              <Row key={request.id} request={request} />
            ))}
          </ListTable>
        )}
      </ResourceList>
    </Page>
  )
}

const Row = ({ request }: { request: DecidedQuotaRequest }) => (
  <Table.Tr>
    <Table.Td style={{ overflowWrap: 'anywhere' }}>
      <Anchor
        size="sm"
        renderRoot={(props) => (
          <Link
            to="/operator/users/$id"
            params={{ id: request.user_id }}
            search={{ tab: 'limits' }}
            {...props}
          />
        )}
      >
        {request.email}
      </Anchor>
    </Table.Td>
    <Table.Td>
      <Text size="sm">{quotaNames[request.quota_type]}</Text>
      <Text size="xs" c="dimmed" maw={320} style={{ overflowWrap: 'anywhere' }}>
        {request.reason}
      </Text>
    </Table.Td>
    <Table.Td>
      {formatLimit(request.quota_type, request.requested_limit)}
      <Text size="xs" c="dimmed">
        currently {formatLimit(request.quota_type, request.current_limit)}
      </Text>
    </Table.Td>
    <Table.Td>
      <Badge color={requestColors[request.status]} variant="dot">
        {names[request.status].toLowerCase()}
      </Badge>
    </Table.Td>
    <Table.Td>
      <When at={request.created_at} />
    </Table.Td>
    <Table.Td>
      {request.status === 'pending' ? (
        <Deciding request={request} />
      ) : (
        <Decided request={request} />
      )}
    </Table.Td>
  </Table.Tr>
)

const Decided = ({ request }: { request: DecidedQuotaRequest }) => (
  <>
    {request.granted_limit !== null && (
      <Text size="sm">{formatLimit(request.quota_type, request.granted_limit)} granted</Text>
    )}
    {request.decision_note !== null && (
      <Text size="xs" c="dimmed" maw={260} style={{ overflowWrap: 'anywhere' }}>
        {request.decision_note}
      </Text>
    )}
    {request.decided_at !== null && (
      <Text size="xs" c="dimmed">
        <When at={request.decided_at} />
      </Text>
    )}
  </>
)

function Deciding({ request }: { request: DecidedQuotaRequest }) {
  const [verb, setVerb] = useState<'approve' | 'reject'>()
  return (
    <Permitted to="POST /api/admin/quota-requests/{id}/approve">
      <Group gap="xs" wrap="nowrap">
        <Button
          size="xs"
          aria-label={`Approve ${request.email}`}
          onClick={() => setVerb('approve')}
        >
          Approve
        </Button>
        <Button
          size="xs"
          variant="default"
          aria-label={`Reject ${request.email}`}
          onClick={() => setVerb('reject')}
        >
          Reject
        </Button>
        {verb && <Decide request={request} verb={verb} onClose={() => setVerb(undefined)} />}
      </Group>
    </Permitted>
  )
}
