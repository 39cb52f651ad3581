import { Badge, Button, Group, Stack, Table, Text } from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { notifications } from '@mantine/notifications'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ListTable } from '../components/list-table'
import { api } from '../api'
import { Confirm } from '../components/confirm'
import { Empty } from '../components/empty'
import { Loaded } from '../components/loaded'
import { Moment } from '../components/moment'
import { Problem } from '../components/problem'
import { invitationsQuery, type Invitation, type Organization } from '../organizations'
import { useSubmit } from '../submit'
import { Invite } from './invite'

const endpoint = api.organizations[':id'].invitations

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
      <Loaded query={query}>
        {(invitations) =>
          invitations.length === 0 ? (
            <Empty title="No invitations yet" action={invite}>
              Invitations are sent by email and expire after seven days. Accepting one makes the
              recipient a member immediately.
            </Empty>
          ) : (
            <>
              <Group>{invite}</Group>
              <InvitationTable id={organization.id} invitations={invitations} />
            </>
          )
        }
      </Loaded>
      {isOpen && <Invite organization={organization} onDone={close} />}
    </Stack>
  )
}

interface TableProps {
  id: string
  invitations: readonly Invitation[]
}

function InvitationTable({ id, invitations }: TableProps) {
  const queries = useQueryClient()
  const [doomed, setDoomed] = useState<Invitation>()
  const refresh = () => queries.invalidateQueries(invitationsQuery(id))
  const resending = useSubmit(async ({ id: inv_id, email }: Invitation) => {
    await endpoint[':inv_id'].resend.$post({ param: { id, inv_id } })
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
          { name: 'Status', place: 'aside' },
          'Expires',
          { name: 'Actions', isHidden: true, place: 'wide' },
        ]}
        minWidth={620}
      >
        {invitations.map((one) => (
          <InvitationRow
            key={one.id}
            invitation={one}
            onResend={() => void resending.submit(one)}
            onRevoke={() => setDoomed(one)}
          />
        ))}
      </ListTable>
      {doomed && (
        <Confirm
          question={`Revoke the invitation for ${doomed.email}?`}
          about="The link in the email stops working. You can invite them again."
          label="Revoke"
          onConfirm={async () => {
            await endpoint[':inv_id'].$delete({ param: { id, inv_id: doomed.id } })
            await refresh()
          }}
          onClose={() => setDoomed(undefined)}
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
      <Table.Td>
        <Group gap={4} justify="flex-end" wrap="nowrap">
          {(isPending || status === 'expired') && (
            <Button size="xs" variant="subtle" onClick={onResend} aria-label={`Resend to ${email}`}>
              Resend
            </Button>
          )}
          {isPending && (
            <Button
              size="xs"
              variant="subtle"
              color="red"
              onClick={onRevoke}
              aria-label={`Revoke the invitation for ${email}`}
            >
              Revoke
            </Button>
          )}
        </Group>
      </Table.Td>
    </Table.Tr>
  )
}
