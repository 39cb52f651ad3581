import { Anchor, Badge, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Filters } from '../../../components/filters'
import { Money } from '../../../components/money'
import { Page } from '../../../components/page'
import { ListTable } from '../../../components/list-table'
import { ResourceList } from '../../../components/resource-list'
import { SearchBox } from '../../../components/search-box'
import { When } from '../../../components/when'
import { count } from '../../../format/figures'
import { operatedQuery, type Operated } from './queries'

const route = getRouteApi('/home/operator/organizations')
const columns = [
  'Organization',
  { name: 'Status', place: 'aside' },
  { name: 'Members', isNumber: true },
  { name: 'Balance', isNumber: true },
  'Created',
] as const

export function OperatedOrganizationsPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  return (
    <Page
      title="All organizations"
      about="Organizations that share connections, credits and limits."
    >
      <Filters>
        <SearchBox
          aria-label="Search organizations"
          placeholder="Name or short name"
          value={search.search}
          onSearch={(text) => void navigate({ search: { search: text }, replace: true })}
        />
      </Filters>
      <ResourceList
        rows={(list) => list}
        query={useQuery(operatedQuery(search))}
        plural="organizations"
        empty={{
          title: 'No organizations yet',
          text: 'Users create organizations in their dashboard.',
        }}
        isFiltered={search.search !== undefined}
        paging={{
          page: search.page ?? 1,
          onPage: (page) => void navigate({ search: (now) => ({ ...now, page }) }),
        }}
      >
        {(ones) => (
          <ListTable columns={columns} minWidth={720}>
            {ones.map((one) => (
              <Row key={one.id} one={one} />
            ))}
          </ListTable>
        )}
      </ResourceList>
    </Page>
  )
}

const Row = ({ one }: { one: Operated }) => (
  <Table.Tr>
    <Table.Td style={{ overflowWrap: 'anywhere' }}>
      <Anchor
        size="sm"
        fw={500}
        renderRoot={(props) => (
          <Link to="/operator/organizations/$id" params={{ id: one.id }} search={{}} {...props} />
        )}
      >
        {one.name}
      </Anchor>
      <Text size="xs" c="dimmed">
        {one.slug}/
      </Text>
    </Table.Td>
    <Table.Td>
      <OrganizationState one={one} />
    </Table.Td>
    <Table.Td ta="right">
      {count(one.member_count)} of {count(one.member_limit)}
    </Table.Td>
    <Table.Td ta="right">
      <Money amount={one.credit_balance} />
    </Table.Td>
    <Table.Td>
      <When at={one.created_at} />
    </Table.Td>
  </Table.Tr>
)

export const OrganizationState = ({ one }: { one: Operated }) => (
  <Badge variant="light" color={one.status === 'active' ? 'green' : 'red'}>
    {one.status}
  </Badge>
)
