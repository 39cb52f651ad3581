import { Anchor, Badge, Button, Code, Group, Stack, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import { oneChatQuery, chatColors, chats, chatsKey, type Chat, type ChatStatus } from './queries'
import { Confirm } from '../../components/confirm'
import { Money } from '../../components/money'
import { Problem } from '../../components/problem'
import { When } from '../../components/when'
import { count, formatCount } from '../../format/figures'
import { gatewaysQuery, gatewayStates } from '../gateways/queries'
import { pollSoon } from '../../api/polling'
import { useSubmit } from '../../components/use-submit'

interface AboutProps {
  chat: Chat
  /** The session's name, when nothing above shows it. */
  name?: ReactNode
}

/** The summary of a session. */
export const SessionAbout = ({ chat, name }: AboutProps) => (
  <Stack gap={4}>
    <Group gap="xs">
      {name}
      <Badge color={chatColors[chat.status]} variant="light">
        {chat.status}
      </Badge>
    </Group>
    <Group gap="xs">
      <Code>{chat.modelId}</Code>
      <Text size="sm" c="dimmed">
        since <When at={chat.createdAt} />
      </Text>
    </Group>
    <Text size="sm" c="dimmed">
      {formatCount(chat.messageCount, 'message')} · {formatCount(chat.totalTokens.input, 'token')}{' '}
      in, {count(chat.totalTokens.output)} out · <Money amount={chat.totalCost} />
    </Text>
    {chat.gatewayId !== null && <ToolsOf chat={chat} gatewayId={chat.gatewayId} />}
    {chat.summary && (
      <Text size="sm" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
        {chat.summary}
      </Text>
    )}
  </Stack>
)

/** The gateway and the tools of a session. */
function ToolsOf({ chat, gatewayId }: { chat: Chat; gatewayId: string }) {
  const { data: gateways = [] } = useQuery({ ...gatewaysQuery, refetchInterval: pollSoon })
  const gateway = gateways.find(({ id }) => id === gatewayId)
  return (
    <Group gap="xs">
      <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
        Tools from{' '}
        {gateway ? (
          <Anchor
            inherit
            underline="always"
            renderRoot={(props) => (
              <Link to="/gateways/$id" params={{ id: gatewayId }} {...props} />
            )}
          >
            {gateway.name}
          </Anchor>
        ) : (
          <Code>{gatewayId}</Code>
        )}
        : {toolsOf(chat)}
      </Text>
      {gateway && (
        <Badge color={gatewayStates[gateway.status].color} variant="light" size="sm">
          {gateway.status}
        </Badge>
      )}
    </Group>
  )
}

/** The tools the session may use. */
function toolsOf({ enabledTools, disabledTools }: Chat): string {
  const enabled = enabledTools === null ? 'all' : enabledTools.join(', ') || 'none'
  return disabledTools.length === 0 ? enabled : `${enabled}, except ${disabledTools.join(', ')}`
}

interface Move {
  label: string
  /** The states in which the action is available. */
  from: readonly ChatStatus[]
  work: (id: string) => Promise<unknown>
}

/** Source: contract 8.1. */
const moves: readonly Move[] = [
  { label: 'Pause', from: ['active'], work: (id) => chats.change(id, { status: 'paused' }) },
  { label: 'Resume', from: ['paused'], work: (id) => chats.change(id, { status: 'active' }) },
  { label: 'Complete', from: ['active', 'paused'], work: (id) => chats.complete(id) },
  {
    label: 'Cancel',
    from: ['active', 'paused'],
    work: (id) => chats.change(id, { status: 'cancelled' }),
  },
]

interface DeedsProps {
  chat: Chat
  /** A link to the page where messages can be sent. */
  nextAction?: ReactNode
  /** Called after the deletion. */
  onDeleted: () => void
}

/** The actions of a session. */
export function SessionDeeds({ chat, nextAction, onDeleted }: DeedsProps) {
  const { id, status, name, modelId } = chat
  const queries = useQueryClient()
  const [isDeleting, setDeleting] = useState(false)
  const refresh = () => queries.invalidateQueries({ queryKey: chatsKey })
  const { submit, isBusy, error } = useSubmit(async (work: () => Promise<unknown>) => {
    await work()
    await refresh()
  })
  const remove = async () => {
    await chats.delete(id)
    onDeleted()
    queries.removeQueries(oneChatQuery(id))
    await refresh()
  }
  return (
    <Stack gap="xs">
      <Problem error={error} />
      <Group gap="xs">
        {status === 'active' && nextAction}
        {moves
          .filter(({ from }) => from.includes(status))
          .map(({ label, work }) => (
            <Button
              key={label}
              size="xs"
              variant="default"
              disabled={isBusy}
              onClick={() => void submit(() => work(id))}
            >
              {label}
            </Button>
          ))}
        <Button size="xs" variant="subtle" color="red" onClick={() => setDeleting(true)}>
          Delete
        </Button>
      </Group>
      {isDeleting && (
        <Confirm
          question="Delete this session?"
          about={`“${name || modelId}” and all its messages are deleted. Its cost stays in your logs.`}
          label="Delete"
          onConfirm={remove}
          onClose={() => setDeleting(false)}
        />
      )}
    </Stack>
  )
}
