import { Badge, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Money } from '../../components/money'
import { Page } from '../../components/page'
import { PagedTable } from '../../components/paged-table'
import { When } from '../../components/when'
import { usersQuery, type User } from '../../operator/users'

const route = getRouteApi('/home/operator/users')

export function UsersPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  return (
    <Page title="Users" about="Everybody with an account, what they may do and what they have.">
      <PagedTable
        query={useQuery(usersQuery(search))}
        columns={['Account', 'State', 'Plan', { name: 'Balance', isNumber: true }, 'Since']}
        minWidth={720}
        things="users"
        empty={{ title: 'No accounts yet', text: 'They come with sign-up.' }}
        isFiltered={search.search !== undefined}
        page={search.page ?? 1}
        onPage={(page) => void navigate({ search: (now) => ({ ...now, page }) })}
      >
        {(user) => <Row key={user.id} user={user} />}
      </PagedTable>
    </Page>
  )
}

const Row = ({ user }: { user: User }) => (
  <Table.Tr>
    <Table.Td>
      <Text fw={500}>{user.display_name}</Text>
      <Text size="xs" c="dimmed">
        {user.email}
      </Text>
    </Table.Td>
    <Table.Td>
      <Badge variant="light" color={user.status === 'active' ? 'green' : 'red'}>
        {user.status}
      </Badge>
    </Table.Td>
    <Table.Td>{user.plan.name}</Table.Td>
    <Table.Td ta="right">
      <Money amount={user.balance} />
    </Table.Td>
    <Table.Td>
      <When at={user.created_at} />
    </Table.Td>
  </Table.Tr>
)
