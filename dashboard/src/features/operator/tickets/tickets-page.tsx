import { Anchor, Badge, Select, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { FilterSelect } from '../../../components/filter-select'
import { Filters } from '../../../components/filters'
import { Page } from '../../../components/page'
import { ListTable } from '../../../components/list-table'
import { ResourceList } from '../../../components/resource-list'
import { SearchBox } from '../../../components/search-box'
import { When } from '../../../components/when'
import { count } from '../../../format/figures'
import {
  stateLabels,
  unassigned,
  ticketsQuery,
  type ListedTicket,
  type TicketSearch,
} from './queries'
import { operatorsQuery } from '../users/queries'
import { categoryNames, priorityNames, stateColors } from '../../support/queries'

const route = getRouteApi('/home/operator/tickets')
const columns = [
  'Ticket',
  { name: 'Status', place: 'aside' },
  'Priority',
  'Category',
  'Assignee',
  { name: 'Replies', isNumber: true },
  'Updated',
] as const

export function TicketsPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const change = (changed: TicketSearch) =>
    void navigate({ search: (now) => ({ ...now, page: undefined, ...changed }), replace: true })
  const { page = 1, ...filter } = search
  return (
    <Page title="Tickets" about="Support tickets of customers, newest first.">
      <QueueFilters search={search} onChange={change} />
      <ResourceList
        rows={(list) => list}
        query={useQuery(ticketsQuery(search))}
        plural="tickets"
        empty={{ title: 'No tickets yet', text: 'Customers create tickets on their support page.' }}
        isFiltered={Object.values(filter).some((value) => value !== undefined)}
        paging={{
          page: page,
          onPage: (next) => void navigate({ search: (now) => ({ ...now, page: next }) }),
        }}
      >
        {(tickets) => (
          <ListTable columns={columns} minWidth={980}>
            {tickets.map((ticket) => (
              <Row key={ticket.id} ticket={ticket} />
            ))}
          </ListTable>
        )}
      </ResourceList>
    </Page>
  )
}

interface FiltersProps {
  search: TicketSearch
  onChange: (changed: TicketSearch) => void
}

function QueueFilters({ search, onChange }: FiltersProps) {
  const { data: operators = [] } = useQuery(operatorsQuery)
  return (
    <Filters>
      <SearchBox
        aria-label="Search tickets"
        placeholder="Subject, email or number"
        value={search.search}
        onSearch={(text) => onChange({ search: text })}
      />
      <FilterSelect
        label="Status"
        all="All statuses"
        names={stateLabels}
        value={search.status}
        onChange={(status) => onChange({ status })}
      />
      <FilterSelect
        label="Priority"
        all="All priorities"
        names={priorityNames}
        value={search.priority}
        onChange={(priority) => onChange({ priority })}
      />
      <FilterSelect
        label="Category"
        all="All categories"
        names={categoryNames}
        value={search.category}
        onChange={(category) => onChange({ category })}
      />
      <Select
        aria-label="Assignee"
        placeholder="All assignees"
        clearable
        data={[
          { value: unassigned, label: 'Unassigned' },
          ...operators.map(({ id, display_name: name }) => ({ value: id, label: name })),
        ]}
        value={search.assignee ?? null}
        onChange={(assignee) => onChange({ assignee: assignee ?? undefined })}
      />
    </Filters>
  )
}

const Row = ({ ticket }: { ticket: ListedTicket }) => (
  <Table.Tr>
    <Table.Td style={{ overflowWrap: 'anywhere' }}>
      <Anchor
        size="sm"
        renderRoot={(props) => (
          <Link to="/operator/tickets/$id" params={{ id: ticket.id }} {...props} />
        )}
      >
        {ticket.subject}
      </Anchor>
      <Text size="xs" c="dimmed">
        {ticket.ticket_number} · {ticket.email}
      </Text>
    </Table.Td>
    <Table.Td>
      <Badge color={stateColors[ticket.status]} variant="light">
        {stateLabels[ticket.status]}
      </Badge>
    </Table.Td>
    <Table.Td>{priorityNames[ticket.priority]}</Table.Td>
    <Table.Td>{categoryNames[ticket.category]}</Table.Td>
    <Table.Td>
      <Assignee id={ticket.assignee_id} />
    </Table.Td>
    <Table.Td ta="right">{count(ticket.comment_count)}</Table.Td>
    <Table.Td>
      <When at={ticket.updated_at} />
    </Table.Td>
  </Table.Tr>
)

/** The name of the assigned operator. */
function Assignee({ id }: { id: string | null }) {
  const { data: operators = [] } = useQuery(operatorsQuery)
  if (id === null) return <Text size="sm">unassigned</Text>
  return operators.find((one) => one.id === id)?.display_name ?? id
}
