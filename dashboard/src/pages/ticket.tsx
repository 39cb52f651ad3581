import { Anchor, Badge, Button, Group, Paper, Stack, Text, Textarea, Title } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { json } from '../api'
import { Loaded } from '../components/loaded'
import { Problem } from '../components/problem'
import { When } from '../components/when'
import { useSubmit } from '../submit'
import {
  categoryNames,
  priorityNames,
  settable,
  stateColors,
  stateNames,
  ticketQuery,
  ticketsEndpoint,
  type Ticket,
} from '../tickets'

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
                This ticket is closed. It can be opened again within 30 days.
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

const deeds = { open: 'Open again', resolved: 'It is resolved', closed: 'Close' } as const

function Head({ ticket }: { ticket: Ticket }) {
  const queries = useQueryClient()
  const { id, status, request_id: request } = ticket
  const setting = useSubmit(async (next: keyof typeof deeds) => {
    const answer = await ticketsEndpoint[':id'].$put({ param: { id } }, json({ status: next }))
    queries.setQueryData(ticketQuery(id).queryKey, await answer.json())
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
            The request it is about
          </Anchor>
        )}
      </Group>
      <Problem error={setting.error} />
    </Stack>
  )
}

interface SaidProps {
  by: string
  isSupport: boolean
  at: string
  text: string
}

const Said = ({ by, isSupport, at, text }: SaidProps) => (
  <Paper withBorder p="md" component="article" aria-label={`${by} wrote`}>
    <Group justify="space-between" gap="xs" mb="xs">
      <Group gap="xs">
        <Text fw={600} size="sm">
          {by}
        </Text>
        {isSupport && <Badge variant="light">support</Badge>}
      </Group>
      <Text size="xs" c="dimmed">
        <When at={at} />
      </Text>
    </Group>
    <Text size="sm" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
      {text}
    </Text>
  </Paper>
)

const Conversation = ({ ticket }: { ticket: Ticket }) => (
  <Stack gap="sm" role="log" aria-label="Conversation">
    <Said by="You" isSupport={false} at={ticket.created_at} text={ticket.description} />
    {ticket.comments.map((comment) => (
      <Said
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
  const form = useForm({
    initialValues: { content: '' },
    validate: { content: (value) => (value.trim() === '' ? 'Write something first.' : null) },
  })
  const { submit, isBusy, error } = useSubmit(async (fields: typeof form.values) => {
    await ticketsEndpoint[':id'].comments.$post({ param: { id } }, json(fields))
    form.reset()
    await queries.invalidateQueries({ queryKey: ['tickets'] })
  }, form)
  return (
    <form onSubmit={form.onSubmit((fields) => void submit(fields))}>
      <Stack gap="sm">
        <Problem error={error} />
        <Textarea
          label="Reply"
          {...(status === 'resolved' && { description: 'A reply opens the ticket again' })}
          maxLength={10_000}
          autosize
          minRows={3}
          maxRows={16}
          {...form.getInputProps('content')}
        />
        <Group justify="flex-end">
          <Button type="submit" loading={isBusy}>
            Send
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
