import { Button, Group, Paper, Stack, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api } from '../../api/client'
import { Moment } from '../../components/moment'
import { Problem } from '../../components/problem'
import { QueryFailure } from '../../components/query-failure'
import { organizationsQuery, ownInvitationsQuery } from './queries'
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
      {invitations.map(
        ({
          id,
          organization_name: name,
          inviter_name: inviter,
          role,
          message,
          expires_at: until,
        }) => (
        <Paper key={id} withBorder p="md">
          <Group justify="space-between">
            <Stack gap={2} maw={640}>
              <Text fw={500}>
                {inviter ?? 'A member'} invites you to join {name} as {role}
              </Text>
              {message && (
                <Text size="sm" style={{ whiteSpace: 'pre-wrap' }}>
                  {message}
                </Text>
              )}
              <Text size="xs" c="dimmed">
                Good until <Moment at={until} />
              </Text>
            </Stack>
            <Group gap="xs">
              <Button
                variant="default"
                disabled={answering.isBusy}
                onClick={() => void answering.submit({ id, name, accepts: false })}
              >
                Decline
              </Button>
              <Button
                loading={answering.isBusy}
                onClick={() => void answering.submit({ id, name, accepts: true })}
              >
                Accept
              </Button>
            </Group>
          </Group>
        </Paper>
      ))}
    </>
  )
}

interface Answer {
  id: string
  name: string
  accepts: boolean
}
