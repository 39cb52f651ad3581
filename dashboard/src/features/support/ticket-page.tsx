import { Anchor, Badge, Button, Group, Stack, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { api, bodyOf } from '../../api/client'
import { ReplyForm, CommentText } from './ticket-comments'
import { Loaded } from '../../components/loaded'
import { Page } from '../../components/page'
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
  const { data } = query
  return (
    <Page
      title={data?.subject ?? 'Ticket'}
      list="Support"
      maxWidth={820}
      back={
        <Anchor size="sm" renderRoot={(props) => <Link to="/support" {...props} />}>
          All tickets
        </Anchor>
      }
      actions={data && <StateButtons ticket={data} />}
      details={data && <TicketFacts ticket={data} />}
    >
      <Loaded query={query} what="ticket">
        {(ticket) => (
          <>
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
    </Page>
  )
}

const deeds = { open: 'Reopen', resolved: 'Mark as resolved', closed: 'Close' } as const

/** Changes the state of the ticket. */
function StateButtons({ ticket: { id, status } }: { ticket: Ticket }) {
  const queries = useQueryClient()
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
      <Problem error={setting.error} />
    </Stack>
  )
}

function TicketFacts({ ticket }: { ticket: Ticket }) {
  const { status, request_id: request } = ticket
  return (
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
