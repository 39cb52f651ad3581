import { Anchor, Badge, Group, Modal, Table, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { NewUser } from './new-user'
import { FilterSelect } from '../../../components/filter-select'
import { Filters } from '../../../components/filters'
import { Moment } from '../../../components/moment'
import { Money } from '../../../components/money'
import { Page } from '../../../components/page'
import { PermittedButton } from '../../../components/permitted'
import { ListTable } from '../../../components/list-table'
import { ResourceList } from '../../../components/resource-list'
import { SearchBox } from '../../../components/search-box'
import { When } from '../../../components/when'
import { PlanSelect } from '../plans/plan-select'
import { roleNames } from '../../../api/role'
import { userStateNames, usersQuery, type User, type UserSearch } from './queries'

const route = getRouteApi('/home/operator/users')
const columns = [
  'Account',
  { name: 'Status', place: 'aside' },
  'Plan',
  { name: 'Balance', isNumber: true },
  'Last active',
  'Created',
] as const

export function UsersPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const [isOpen, { open, close }] = useDisclosure()
  const change = (changed: UserSearch) =>
    void navigate({ search: (now) => ({ ...now, page: undefined, ...changed }), replace: true })
  const isFiltered = [search.search, search.status, search.plan].some(Boolean)
  return (
    <Page
      title="Users"
      about="All accounts with their plans and balances."
      actions={<PermittedButton to="POST /api/admin/users" label="New user" onClick={open} />}
    >
      <UserFilters search={search} onChange={change} />
      <ResourceList
        rows={(list) => list}
        query={useQuery(usersQuery(search))}
        plural="users"
        empty={{
          title: 'No users yet',
          text: 'Create a user; they receive a sign-in link by email, or from you.',
        }}
        isFiltered={isFiltered}
        paging={{
          page: search.page ?? 1,
          onPage: (page) => void navigate({ search: (now) => ({ ...now, page }) }),
        }}
      >
        {(users) => (
          <ListTable columns={columns} minWidth={860}>
            {users.map((user) => (
              <Row key={user.id} user={user} />
            ))}
          </ListTable>
        )}
      </ResourceList>
      <Modal opened={isOpen} onClose={close} title="New user">
        <NewUser onClose={close} />
      </Modal>
    </Page>
  )
}

interface FiltersProps {
  search: UserSearch
  onChange: (changed: UserSearch) => void
}

const UserFilters = ({ search, onChange }: FiltersProps) => (
  <Filters>
    <SearchBox
      aria-label="Search users"
      placeholder="Name or email"
      value={search.search}
      onSearch={(text) => onChange({ search: text })}
    />
    <FilterSelect
      label="Status"
      all="All statuses"
      names={userStateNames}
      value={search.status}
      onChange={(status) => onChange({ status })}
    />
    <PlanSelect
      aria-label="Plan"
      placeholder="All plans"
      clearable
      value={search.plan ?? null}
      onChange={(plan) => onChange({ plan: plan ?? undefined })}
    />
  </Filters>
)

const Row = ({ user }: { user: User }) => (
  <Table.Tr>
    <Table.Td style={{ overflowWrap: 'anywhere' }}>
      <Anchor
        size="sm"
        fw={500}
        renderRoot={(props) => (
          <Link to="/operator/users/$id" params={{ id: user.id }} search={{}} {...props} />
        )}
      >
        {user.display_name}
      </Anchor>
      <Text size="xs" c="dimmed">
        {user.email}
      </Text>
    </Table.Td>
    <Table.Td>
      <UserBadges user={user} />
    </Table.Td>
    <Table.Td>{user.plan.name}</Table.Td>
    <Table.Td ta="right">
      <Money amount={user.balance} />
    </Table.Td>
    <Table.Td>
      <Moment at={user.last_active_at} />
    </Table.Td>
    <Table.Td>
      <When at={user.created_at} />
    </Table.Td>
  </Table.Tr>
)

/** Badges for special accounts. */
export const UserBadges = ({ user }: { user: User }) => (
  <Group gap={6}>
    <Badge variant="light" color={user.status === 'active' ? 'green' : 'red'}>
      {user.status}
    </Badge>
    {user.operator_role !== null && (
      <Badge variant="outline">{roleNames[user.operator_role].toLowerCase()}</Badge>
    )}
    {user.blocked && <Badge color="red">blocked</Badge>}
  </Group>
)
