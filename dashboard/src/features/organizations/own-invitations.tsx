import { Button, Group, Paper, Stack, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api } from '../../api/client'
import { Moment } from '../../components/moment'
import { Problem } from '../../components/problem'
import { QueryFailure } from '../../components/query-failure'
import { organizationsQuery, ownInvitationsQuery, type Invitation } from './queries'
import { useSubmit } from '../../components/use-submit'

/** The account's own invitations, to accept or decline; renders nothing when there are none. */
export function OwnInvitations() {
  const queries = useQueryClient()
  const { data: invitations = [], error, refetch } = useQuery(ownInvitationsQuery)
  const answering = useSubmit(async ({ id, name, accepts }: Answer) => {
    const param = { inv_id: id }
    await (accepts
      ? api.POST('/api/organizations/invitations/{inv_id}/accept', { params: { path: param } })
      : api.POST('/api/organizations/invitations/{inv_id}/decline', { params: { path: param } }))
    notifications.show({ message: accepts ? `You joined ${name}.` : 'Invitation declined.' })
    await Promise.all([
      queries.invalidateQueries(ownInvitationsQuery),
      queries.invalidateQueries(organizationsQuery),
    ])
  })
  if (error) return <QueryFailure error={error} refetch={refetch} />
  return (
    <>
      <Problem error={answering.error} />
      {invitations.map((one) => (
        <InvitationCard
          key={one.id}
          invitation={one}
          isBusy={answering.isBusy}
          onAnswer={(accepts) =>
            void answering.submit({ id: one.id, name: one.organization_name, accepts })
          }
        />
      ))}
    </>
  )
}

interface Answer {
  id: string
  name: string
  accepts: boolean
}

interface CardProps {
  invitation: Invitation
  isBusy: boolean
  onAnswer: (accepts: boolean) => void
}

/** One invitation: who invites to what, and the two answers. */
const InvitationCard = ({ invitation, isBusy, onAnswer }: CardProps) => (
  <Paper withBorder p="md">
    <Group justify="space-between">
      <Stack gap={2} maw={640}>
        <Text fw={500}>
          {invitation.inviter_name ?? 'A member'} invites you to join {invitation.organization_name}{' '}
          as {invitation.role}
        </Text>
        {invitation.message && (
          <Text size="sm" style={{ whiteSpace: 'pre-wrap' }}>
            {invitation.message}
          </Text>
        )}
        <Text size="xs" c="dimmed">
          Good until <Moment at={invitation.expires_at} />
        </Text>
      </Stack>
      <Group gap="xs">
        <Button variant="default" disabled={isBusy} onClick={() => onAnswer(false)}>
          Decline
        </Button>
        <Button loading={isBusy} onClick={() => onAnswer(true)}>
          Accept
        </Button>
      </Group>
    </Group>
  </Paper>
)
