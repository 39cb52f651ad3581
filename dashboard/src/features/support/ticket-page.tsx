import { Anchor, Badge, Button, Group, Stack, Text, Title } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { api, bodyOf } from '../../api/client'
import { ReplyForm, CommentText } from './ticket-comments'
import { Loaded } from '../../components/loaded'
import { Problem } from '../../components/problem'
import { useSubmit } from '../../components/use-submit'
import {
  categoryNames,
  priorityNames,
  settable,
  stateColors,
  stateNames,
  ticketQuery,
  type Ticket,
} from './queries'

const route = getRouteApi('/home/support/$id')

export function TicketPage() {
  const { id } = route.useParams()
  const query = useQuery(ticketQuery(id))
  return (
    <Stack gap="lg" maw={820} mx="auto">
      <Anchor size="sm" renderRoot={(props) => <Link to="/support" {...props} />}>
        All tickets
      </Anchor>
      <Loaded query={query}>
        {(ticket) => (
          <>
            <Head ticket={ticket} />
            <Conversation ticket={ticket} />
            {ticket.status === 'closed' ? (
              <Text size="sm" c="dimmed">
                This ticket is closed. You can reopen it within 30 days.
              </Text>
            ) : (
              <Reply ticket={ticket} />
            )}
          </>
        )}
      </Loaded>
    </Stack>
  )
}

const deeds = { open: 'Reopen', resolved: 'Mark as resolved', closed: 'Close' } as const

function Head({ ticket }: { ticket: Ticket }) {
  const queries = useQueryClient()
  const { id, status, request_id: request } = ticket
  const setting = useSubmit(async (next: keyof typeof deeds) => {
    const answer = await bodyOf(
      api.PUT('/api/support/tickets/{id}', {
        params: { path: { id } },
        body: { status: next },
      }),
    )
    queries.setQueryData(ticketQuery(id).queryKey, answer)
    await queries.invalidateQueries({ queryKey: ['tickets', 'list'] })
  })
  return (
    <Stack gap="xs">
      <Group justify="space-between" align="flex-start">
        <Title order={1} size="h2" style={{ overflowWrap: 'anywhere' }}>
          {ticket.subject}
        </Title>
        <Group gap="xs">
          {settable[status].map((next) => (
            <Button
              key={next}
              size="xs"
              variant="default"
              disabled={setting.isBusy}
              onClick={() => void setting.submit(next)}
            >
              {deeds[next]}
            </Button>
          ))}
        </Group>
      </Group>
      <Group gap="xs">
        <Badge color={stateColors[status]} variant="light">
          {stateNames[status]}
        </Badge>
        <Text size="sm" c="dimmed">
          {ticket.ticket_number} · {categoryNames[ticket.category]} · priority{' '}
          {priorityNames[ticket.priority].toLowerCase()}
        </Text>
        {request !== null && (
          <Anchor
            size="sm"
            renderRoot={(props) => <Link to="/logs" search={{ open: request }} {...props} />}
          >
            View request
          </Anchor>
        )}
      </Group>
      <Problem error={setting.error} />
    </Stack>
  )
}

const Conversation = ({ ticket }: { ticket: Ticket }) => (
  <Stack gap="sm" role="log" aria-label="Conversation">
    <CommentText by="You" isSupport={false} at={ticket.created_at} text={ticket.description} />
    {ticket.comments.map((comment) => (
      <CommentText
        key={comment.id}
        by={comment.author === 'user' ? 'You' : comment.author_name}
        isSupport={comment.author === 'support'}
        at={comment.created_at}
        text={comment.content}
      />
    ))}
  </Stack>
)

function Reply({ ticket: { id, status } }: { ticket: Ticket }) {
  const queries = useQueryClient()
  const send = async (content: string) => {
    await api.POST('/api/support/tickets/{id}/comments', {
      params: { path: { id } },
      body: { content },
    })
    await queries.invalidateQueries({ queryKey: ['tickets'] })
  }
  const hint = status === 'resolved' ? 'A reply reopens the ticket' : undefined
  return <ReplyForm hint={hint} send={send} />
}
