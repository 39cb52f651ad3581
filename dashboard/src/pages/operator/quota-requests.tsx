import { Anchor, Badge, Button, Group, Select, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useState } from 'react'
import { Decide } from './decide'
import { Filters } from '../../components/filters'
import { Page } from '../../components/page'
import { PagedTable } from '../../components/paged-table'
import { SearchBox } from '../../components/search-box'
import { When } from '../../components/when'
import { limitWords } from '../../operator/limit-words'
import {
  decisions,
  decisionsQuery,
  toDecisionSearch,
  type Asked,
} from '../../operator/quota-requests'
import { quotaNames } from '../../quota'

const route = getRouteApi('/home/operator/quota-requests')
const colors = { pending: 'blue', approved: 'green', rejected: 'red' } as const
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
      <PagedTable
        query={useQuery(decisionsQuery(search))}
        columns={columns}
        minWidth={980}
        things="requests"
        empty={{
          title: status === 'pending' ? 'No pending requests' : 'No requests',
          text: 'Accounts request limit increases on their quota page.',
        }}
        isFiltered={search.search !== undefined}
        page={page}
        onPage={(next) => void navigate({ search: (now) => ({ ...now, page: next }) })}
      >
        {(asked) => <Row key={asked.id} asked={asked} />}
      </PagedTable>
    </Page>
  )
}

const Row = ({ asked }: { asked: Asked }) => (
  <Table.Tr>
    <Table.Td style={{ overflowWrap: 'anywhere' }}>
      <Anchor
        size="sm"
        renderRoot={(props) => (
          <Link
            to="/operator/users/$id"
            params={{ id: asked.user_id }}
            search={{ tab: 'limits' }}
            {...props}
          />
        )}
      >
        {asked.email}
      </Anchor>
    </Table.Td>
    <Table.Td>
      <Text size="sm">{quotaNames[asked.quota_type]}</Text>
      <Text size="xs" c="dimmed" maw={320} style={{ overflowWrap: 'anywhere' }}>
        {asked.reason}
      </Text>
    </Table.Td>
    <Table.Td>
      {limitWords(asked.quota_type, asked.requested_limit)}
      <Text size="xs" c="dimmed">
        currently {limitWords(asked.quota_type, asked.current_limit)}
      </Text>
    </Table.Td>
    <Table.Td>
      <Badge color={colors[asked.status]} variant="dot">
        {names[asked.status].toLowerCase()}
      </Badge>
    </Table.Td>
    <Table.Td>
      <When at={asked.created_at} />
    </Table.Td>
    <Table.Td>
      {asked.status === 'pending' ? <Deciding asked={asked} /> : <Decided asked={asked} />}
    </Table.Td>
  </Table.Tr>
)

const Decided = ({ asked }: { asked: Asked }) => (
  <>
    {asked.granted_limit !== null && (
      <Text size="sm">{limitWords(asked.quota_type, asked.granted_limit)} granted</Text>
    )}
    {asked.decision_note !== null && (
      <Text size="xs" c="dimmed" maw={260} style={{ overflowWrap: 'anywhere' }}>
        {asked.decision_note}
      </Text>
    )}
    {asked.decided_at !== null && (
      <Text size="xs" c="dimmed">
        <When at={asked.decided_at} />
      </Text>
    )}
  </>
)

function Deciding({ asked }: { asked: Asked }) {
  const [verb, setVerb] = useState<'approve' | 'reject'>()
  return (
    <Group gap="xs" wrap="nowrap">
      <Button size="xs" aria-label={`Approve ${asked.email}`} onClick={() => setVerb('approve')}>
        Approve
      </Button>
      <Button
        size="xs"
        variant="default"
        aria-label={`Reject ${asked.email}`}
        onClick={() => setVerb('reject')}
      >
        Reject
      </Button>
      {verb && <Decide asked={asked} verb={verb} onClose={() => setVerb(undefined)} />}
    </Group>
  )
}
