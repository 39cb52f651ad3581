import { Badge, Group, Menu, Stack, Table, Text, TextInput } from '@mantine/core'
import { useDebouncedValue } from '@mantine/hooks'
import { notifications } from '@mantine/notifications'
import { useQuery, useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { ListTable } from '../../components/list-table'
import { api } from '../../api/client'
import { Confirm } from '../../components/confirm'
import { ResourceList } from '../../components/resource-list'
import { Moment } from '../../components/moment'
import { RowMenu } from '../../components/row-menu'
import { Money } from '../../components/money'
import { usd } from '../../format/money'
import {
  isManager,
  memberPageSize,
  membersQuery,
  organizationQuery,
  rolesBelow,
  type Member,
  type Organization,
} from './queries'
import { sessionQuery } from '../../api/session'
import { ChangeMember } from './member-form'

const colors = { active: 'green', suspended: 'red', pending: 'yellow' } as const

/** The members of an organization; managers may edit them. */
export function OrganizationMembers({ organization }: { organization: Organization }) {
  const { id } = organization
  const [typed, setTyped] = useState('')
  const [search] = useDebouncedValue(typed.trim(), 200)
  const [page, setPage] = useState(1)
  const query = useQuery(membersQuery(id, { search, page }))
  return (
    <Stack gap="sm">
      <TextInput
        aria-label="Search members"
        placeholder="Search by name or email"
        maw={320}
        value={typed}
        onChange={(event) => {
          setTyped(event.currentTarget.value)
          setPage(1)
        }}
      />
      <ResourceList
        query={query}
        rows={({ members, pagination: { total } }) => ({ items: members, total })}
        plural="members"
        empty="No members yet."
        isFiltered={search !== ''}
        paging={{ page, onPage: setPage, size: memberPageSize }}
      >
        {(members) => <MemberTable organization={organization} members={members} />}
      </ResourceList>
    </Stack>
  )
}

interface TableProps {
  organization: Organization
  members: readonly Member[]
}

const MemberTable = ({ organization, members }: TableProps) => (
  <ListTable
    columns={[
      'Name',
      'Role',
      'Department',
      { name: 'Spent this month', isNumber: true },
      'Joined',
      { name: 'Actions', isHidden: true },
    ]}
    minWidth={700}
  >
    {members.map((one) => (
      <Table.Tr key={one.user_id}>
        <Table.Td>
          <Text fw={500}>{one.display_name}</Text>
          <Text size="xs" c="dimmed">
            {one.email}
          </Text>
        </Table.Td>
        <Table.Td>
          <Group gap={6}>
            <Badge variant="light">{one.role}</Badge>
            {one.status !== 'active' && (
              <Badge color={colors[one.status]} variant="dot">
                {one.status}
              </Badge>
            )}
          </Group>
        </Table.Td>
        <Table.Td>{one.department ?? '–'}</Table.Td>
        <Table.Td ta="right">
          {one.spent_this_month === null ? '–' : <Money amount={one.spent_this_month} />}
          {one.effective_spending_limit !== null && (
            <Text size="xs" c="dimmed">
              of {usd(one.effective_spending_limit)}, {usd(one.remaining_this_month ?? 0)} left
            </Text>
          )}
        </Table.Td>
        <Table.Td>
          <Moment at={one.joined_at} fallback="not yet" />
        </Table.Td>
        <Table.Td ta="right">
          <Actions organization={organization} member={one} />
        </Table.Td>
      </Table.Tr>
    ))}
  </ListTable>
)

/** Whether the user may change a member; members leave through their own page. */
function mayChange(organization: Organization, { role }: Member): boolean {
  return isManager(organization) && role !== 'owner' && rolesBelow(organization.role).includes(role)
}

const nextStates = {
  active: { status: 'suspended', label: 'Suspend' },
  suspended: { status: 'active', label: 'Reinstate' },
  pending: { status: 'active', label: 'Approve' },
} as const

function Actions({ organization, member }: { organization: Organization; member: Member }) {
  const queries = useQueryClient()
  const { data: session } = useSuspenseQuery(sessionQuery)
  const [dialog, setDialog] = useState<'change' | 'remove'>()
  if (member.user_id === session?.user.id || !mayChange(organization, member)) return null
  const param = { id: organization.id, user_id: member.user_id }
  const refresh = () => queries.invalidateQueries(organizationQuery(organization.id))
  const next = nextStates[member.status]
  const remove = async () => {
    await api.DELETE('/api/organizations/{id}/members/{user_id}', { params: { path: param } })
    await refresh()
  }
  const move = async () => {
    try {
      await api.PUT('/api/organizations/{id}/members/{user_id}', {
        params: { path: param },
        body: { status: next.status },
      })
      await refresh()
    } catch (thrown) {
      const message = thrown instanceof Error ? thrown.message : String(thrown)
      notifications.show({ title: member.display_name, message, color: 'red' })
    }
  }
  return (
    <>
      <RowMenu name={member.display_name}>
        <Menu.Item onClick={() => setDialog('change')}>Edit</Menu.Item>
        <Menu.Item onClick={() => void move()}>{next.label}</Menu.Item>
        <Menu.Item color="red" onClick={() => setDialog('remove')}>
          {member.status === 'pending' ? 'Decline' : 'Remove'}
        </Menu.Item>
      </RowMenu>
      {dialog === 'change' && (
        <ChangeMember
          organization={organization}
          member={member}
          onClose={() => setDialog(undefined)}
        />
      )}
      {dialog === 'remove' && (
        <Confirm
          question={`Remove ${member.display_name}?`}
          about="They lose access to the organization's connections and credits. You can invite them again."
          label="Remove"
          onConfirm={remove}
          onClose={() => setDialog(undefined)}
        />
      )}
    </>
  )
}
