import { toRows } from '../../api/paging'
import { ResourceList } from '../../components/resource-list'
import { Anchor, Badge, Button, Modal, Table, Text } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Filters } from '../../components/filters'
import { ListTable } from '../../components/list-table'
import { FilterSelect } from '../../components/filter-select'
import { Page } from '../../components/page'
import { When } from '../../components/when'
import { count } from '../../format/figures'
import {
  categoryNames,
  priorityNames,
  stateColors,
  stateNames,
  ticketsQuery,
  type ListedTicket,
  type TicketFilter,
  type TicketSearch,
} from './queries'
import { NewTicket } from './new-ticket'

const route = getRouteApi('/home/support')

export function SupportPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const { status, category, priority } = search
  const filter = { status, category, priority }
  const query = useInfiniteQuery(ticketsQuery(filter))
  const change = (changed: TicketSearch) =>
    void navigate({ search: (before) => ({ ...before, ...changed }), replace: true })
  const newTicketButton = <Button onClick={() => change({ new: true })}>New ticket</Button>
  const isFiltered = Object.values(filter).some((value) => value !== undefined)
  const close = () => change({ new: undefined, request: undefined })
  return (
    <Page title="Support" about="Contact the operator of this service." actions={newTicketButton}>
      <TicketFilters filter={filter} onChange={change} />
      <ResourceList
        query={query}
        rows={({ pages }) => toRows(pages, ({ tickets }) => tickets)}
        plural="tickets"
        empty={{
          title: 'No tickets yet',
          text: 'Report a problem or ask about a bill. Replies appear here and in your inbox.',
        }}
        isFiltered={isFiltered}
      >
        {(tickets) => <TicketTable tickets={tickets} />}
      </ResourceList>
      <Modal opened={search.new === true} onClose={close} title="New ticket" size="lg">
        <NewTicket request={search.request} onClose={close} />
      </Modal>
    </Page>
  )
}

interface FiltersProps {
  filter: TicketFilter
  onChange: (changed: TicketSearch) => void
}

const TicketFilters = ({ filter, onChange }: FiltersProps) => (
  <Filters>
    <FilterSelect
      label="Status"
      all="All statuses"
      names={stateNames}
      value={filter.status}
      onChange={(status) => onChange({ status })}
    />
    <FilterSelect
      label="Category"
      all="All categories"
      names={categoryNames}
      value={filter.category}
      onChange={(category) => onChange({ category })}
    />
    <FilterSelect
      label="Priority"
      all="All priorities"
      names={priorityNames}
      value={filter.priority}
      onChange={(priority) => onChange({ priority })}
    />
  </Filters>
)

const TicketTable = ({ tickets }: { tickets: readonly ListedTicket[] }) => (
  <ListTable
    columns={[
      'Subject',
      { name: 'Status', position: 'aside' },
      'Category',
      'Priority',
      { name: 'Replies', isNumber: true },
      'Updated',
    ]}
    minWidth={680}
  >
    {tickets.map((ticket) => (
      <Table.Tr key={ticket.id}>
        <Table.Td style={{ overflowWrap: 'anywhere' }}>
          <Anchor
            size="sm"
            renderRoot={(props) => <Link to="/support/$id" params={{ id: ticket.id }} {...props} />}
          >
            {ticket.subject}
          </Anchor>
          <Text size="xs" c="dimmed">
            {ticket.ticket_number}
          </Text>
        </Table.Td>
        <Table.Td>
          <Badge color={stateColors[ticket.status]} variant="light">
            {stateNames[ticket.status]}
          </Badge>
        </Table.Td>
        <Table.Td>{categoryNames[ticket.category]}</Table.Td>
        <Table.Td>{priorityNames[ticket.priority]}</Table.Td>
        <Table.Td ta="right">{count(ticket.comment_count)}</Table.Td>
        <Table.Td>
          <When at={ticket.updated_at} />
        </Table.Td>
      </Table.Tr>
    ))}
  </ListTable>
)
