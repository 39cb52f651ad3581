import { Anchor, Badge, Group, Select, SimpleGrid, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { useContext, useState } from 'react'
import { api } from '../../../api/client'
import { ReplyForm, CommentText } from '../../support/ticket-comments'
import { Confirm } from '../../../components/confirm'
import { Loaded } from '../../../components/loaded'
import { Page } from '../../../components/page'
import { Permitted, PermittedForms } from '../../../components/permitted'
import { Problem } from '../../../components/problem'
import { ReadOnlyForms } from '../../../components/read-only-forms'
import { stateLabels, ticketQuery, handledTo, type Ticket } from './queries'
import { useRefresh } from '../refresh'
import { operatorsQuery } from '../users/queries'
import { useSubmit } from '../../../components/use-submit'
import { categoryNames, priorityNames, stateColors } from '../../support/queries'

const route = getRouteApi('/home/operator/tickets/$id')

export function HandledTicketPage() {
  const { id } = route.useParams()
  const query = useQuery(ticketQuery(id))
  const { data } = query
  return (
    <Page
      title={data?.subject ?? 'Ticket'}
      list="Tickets"
      maxWidth={820}
      back={
        <Anchor
          size="sm"
          renderRoot={(props) => <Link to="/operator/tickets" search={{}} {...props} />}
        >
          All tickets
        </Anchor>
      }
      details={data && <TicketFacts ticket={data} />}
    >
      <Loaded query={query} what="ticket">
        {(ticket) => (
          <>
            <PermittedForms to="PUT /api/admin/tickets/{id}">
              <Handling ticket={ticket} />
            </PermittedForms>
            <Conversation ticket={ticket} />
            <Permitted to="POST /api/admin/tickets/{id}/comments">
              <Answer ticket={ticket} />
            </Permitted>
          </>
        )}
      </Loaded>
    </Page>
  )
}

const TicketFacts = ({ ticket }: { ticket: Ticket }) => (
  <Group gap="xs">
    <Badge color={stateColors[ticket.status]} variant="light">
      {stateLabels[ticket.status]}
    </Badge>
    <Text size="sm" c="dimmed">
      {ticket.ticket_number}
    </Text>
    <Anchor
      size="sm"
      renderRoot={(props) => (
        <Link to="/operator/users/$id" params={{ id: ticket.user_id }} search={{}} {...props} />
      )}
    >
      {ticket.email}
    </Anchor>
    {ticket.request_id !== null && (
      <Anchor
        size="sm"
        style={{ overflowWrap: 'anywhere' }}
        renderRoot={(props) => (
          <Link
            to="/operator/requests"
            search={{ open: ticket.request_id ?? undefined }}
            {...props}
          />
        )}
      >
        about {ticket.request_id}
      </Anchor>
    )}
  </Group>
)

const choices = (names: Readonly<Record<string, string>>) =>
  Object.entries(names).map(([value, label]) => ({ value, label }))

/** Edits the state of a ticket; changes are saved immediately. */
function Handling({ ticket }: { ticket: Ticket }) {
  const { id, status, assignee_id: assignee } = ticket
  const refresh = useRefresh()
  const { data: operators = [] } = useQuery(operatorsQuery)
  const change = async (fields: object) => {
    await api.PUT('/api/admin/tickets/{id}', { params: { path: { id } }, body: fields })
    await refresh()
  }
  const { submit, isBusy: isSaving, error } = useSubmit(change)
  const isBusy = useContext(ReadOnlyForms) || isSaving
  const common = { allowDeselect: false, disabled: isBusy || status === 'closed' }
  return (
    <Stack gap="xs">
      <SimpleGrid cols={{ base: 1, xs: 2, md: 4 }}>
        <StateSelect status={status} isBusy={isBusy} change={change} submit={submit} />
        <Select
          {...common}
          label="Priority"
          data={choices(priorityNames)}
          value={ticket.priority}
          onChange={(value) => void submit({ priority: value })}
        />
        <Select
          {...common}
          label="Category"
          data={choices(categoryNames)}
          value={ticket.category}
          onChange={(value) => void submit({ category: value })}
        />
        <Select
          {...common}
          label="Assignee"
          placeholder="Unassigned"
          clearable
          data={operators.map((one) => ({ value: one.id, label: one.display_name }))}
          value={assignee}
          onChange={(value) => void submit({ assignee_id: value })}
        />
      </SimpleGrid>
      <Problem error={error} />
    </Stack>
  )
}

interface StateProps {
  status: Ticket['status']
  isBusy: boolean
  /** Saves changes of the ticket; rejects when the service refuses. */
  change: (fields: object) => Promise<void>
  /** Saves changes and shows an error beside the fields. */
  submit: (fields: object) => Promise<void>
}

/** Selects the state; support cannot reopen a closed ticket, so closing asks for confirmation. */
function StateSelect({ status, isBusy, change, submit }: StateProps) {
  const [isClosing, setClosing] = useState(false)
  const next = handledTo[status]
  const choose = (value: string | null) => {
    if (value === 'closed') setClosing(true)
    else if (value !== status) void submit({ status: value })
  }
  return (
    <>
      <Select
        label="Status"
        allowDeselect={false}
        disabled={isBusy || next.length === 0}
        data={[status, ...next].map((state) => ({ value: state, label: stateLabels[state] }))}
        value={status}
        onChange={choose}
      />
      {isClosing && (
        <Confirm
          question="Close this ticket?"
          about="No further replies are possible. Only its owner can reopen it, within 30 days."
          label="Close ticket"
          cancel="Cancel"
          onConfirm={() => change({ status: 'closed' })}
          onClose={() => setClosing(false)}
        />
      )}
    </>
  )
}

const Conversation = ({ ticket }: { ticket: Ticket }) => (
  <Stack gap="sm" role="log" aria-label="Conversation">
    <CommentText
      by={ticket.email}
      isSupport={false}
      at={ticket.created_at}
      text={ticket.description}
    />
    {ticket.comments.map((comment) => (
      <CommentText
        key={comment.id}
        by={comment.author_name}
        isSupport={comment.author === 'support'}
        at={comment.created_at}
        text={comment.content}
      />
    ))}
  </Stack>
)

function Answer({ ticket: { id, status } }: { ticket: Ticket }) {
  const refresh = useRefresh()
  if (status === 'closed') {
    return (
      <Text size="sm" c="dimmed">
        This ticket is closed. Only its owner can reopen it, within 30 days.
      </Text>
    )
  }
  const send = async (content: string) => {
    await api.POST('/api/admin/tickets/{id}/comments', {
      params: { path: { id } },
      body: { content },
    })
    await refresh()
  }
  return <ReplyForm hint="Sent to the ticket's owner by email and to the inbox" send={send} />
}
