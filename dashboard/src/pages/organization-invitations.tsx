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

/** Who is invited; seen by managers. */
export function OrganizationInvitations({ organization }: { organization: Organization }) {
  const query = useQuery(invitationsQuery(organization.id))
  const [isOpen, { open, close }] = useDisclosure()
  const invite = <Button onClick={open}>Invite people</Button>
  return (
    <Stack gap="sm">
      <Loaded query={query}>
        {(invitations) =>
          invitations.length === 0 ? (
            <Empty title="Nobody was invited yet" action={invite}>
              An invitation is mailed, and good for seven days. Whoever accepts it is a member at
              once.
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
    notifications.show({ message: `Sent to ${email} again.` })
    await refresh()
  })
  return (
    <>
      <Problem error={resending.error} />
      <ListTable
        columns={[
          'Address',
          'Role',
          { name: 'Status', place: 'aside' },
          'Good until',
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
          question={`Revoke the invitation of ${doomed.email}?`}
          about="The link in the mail leads nowhere then. They may be invited again."
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
            <Button
              size="xs"
              variant="subtle"
              onClick={onResend}
              aria-label={`Send again to ${email}`}
            >
              Send again
            </Button>
          )}
          {isPending && (
            <Button
              size="xs"
              variant="subtle"
              color="red"
              onClick={onRevoke}
              aria-label={`Revoke the invitation of ${email}`}
            >
              Revoke
            </Button>
          )}
        </Group>
      </Table.Td>
    </Table.Tr>
  )
}
