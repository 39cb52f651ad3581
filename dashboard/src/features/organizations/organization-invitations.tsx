import { Badge, Button, Group, Menu, Stack, Table, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { notifications } from '@mantine/notifications'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ListTable } from '../../components/list-table'
import { api } from '../../api/client'
import { Confirm } from '../../components/confirm'
import { ResourceList } from '../../components/resource-list'
import { allRows } from '../../api/paging'
import { Moment } from '../../components/moment'
import { Problem } from '../../components/problem'
import { RowMenu } from '../../components/row-menu'
import { invitationsQuery, type Invitation, type Organization } from './queries'
import { useSubmit } from '../../components/use-submit'
import { Invite } from './invite-form'

const colors = {
  pending: 'yellow',
  accepted: 'green',
  declined: 'gray',
  revoked: 'gray',
  expired: 'gray',
} as const

/** The invitations of an organization; visible to managers. */
export function OrganizationInvitations({ organization }: { organization: Organization }) {
  const query = useQuery(invitationsQuery(organization.id))
  const [isOpen, { open, close }] = useDisclosure()
  const invite = <Button onClick={open}>Invite members</Button>
  return (
    <Stack gap="sm">
      <ResourceList
        query={query}
        rows={(invitations) => allRows(invitations)}
        plural="invitations"
        empty={{
          title: 'No invitations yet',
          text: 'Invitations are sent by email and expire after seven days. Accepting one makes the recipient a member immediately.',
          action: invite,
        }}
      >
        {(invitations) => (
          <>
            <Group>{invite}</Group>
            <InvitationTable id={organization.id} invitations={invitations} />
          </>
        )}
      </ResourceList>
      {isOpen && <Invite organization={organization} onClose={close} />}
    </Stack>
  )
}

interface TableProps {
  id: string
  invitations: readonly Invitation[]
}

function InvitationTable({ id, invitations }: TableProps) {
  const queries = useQueryClient()
  const [deleting, setDeleting] = useState<Invitation>()
  const refresh = () => queries.invalidateQueries(invitationsQuery(id))
  const resending = useSubmit(async ({ id: inv_id, email }: Invitation) => {
    await api.POST('/api/organizations/{id}/invitations/{inv_id}/resend', {
      params: { path: { id, inv_id } },
    })
    notifications.show({ message: `Invitation resent to ${email}.` })
    await refresh()
  })
  return (
    <>
      <Problem error={resending.error} />
      <ListTable
        columns={[
          'Email',
          'Role',
          { name: 'Status', position: 'aside' },
          'Expires',
          { name: 'Actions', isHidden: true },
        ]}
        minWidth={620}
      >
        {invitations.map((one) => (
          <InvitationRow
            key={one.id}
            invitation={one}
            onResend={() => void resending.submit(one)}
            onRevoke={() => setDeleting(one)}
          />
        ))}
      </ListTable>
      {deleting && (
        <Confirm
          question={`Revoke the invitation for ${deleting.email}?`}
          about="The link in the email stops working. You can invite them again."
          label="Revoke"
          onConfirm={async () => {
            await api.DELETE('/api/organizations/{id}/invitations/{inv_id}', {
              params: { path: { id, inv_id: deleting.id } },
            })
            await refresh()
          }}
          onClose={() => setDeleting(undefined)}
        />
      )}
    </>
  )
}

interface RowProps {
  invitation: Invitation
  onResend: () => void
  onRevoke: () => void
}

const InvitationRow = ({ invitation, onResend, onRevoke }: RowProps) => {
  const { email, role, status, message, expires_at: until } = invitation
  const isPending = status === 'pending'
  return (
    <Table.Tr>
      <Table.Td>
        {email}
        {message && (
          <Text size="xs" c="dimmed" lineClamp={2}>
            {message}
          </Text>
        )}
      </Table.Td>
      <Table.Td>{role}</Table.Td>
      <Table.Td>
        <Badge color={colors[status]} variant="dot">
          {status}
        </Badge>
      </Table.Td>
      <Table.Td>{isPending ? <Moment at={until} /> : '–'}</Table.Td>
      <Table.Td ta="right">
        {(isPending || status === 'expired') && (
          <RowMenu name={email}>
            <Menu.Item onClick={onResend}>Resend</Menu.Item>
            {isPending && (
              <Menu.Item color="red" onClick={onRevoke}>
                Revoke
              </Menu.Item>
            )}
          </RowMenu>
        )}
      </Table.Td>
    </Table.Tr>
  )
}
