import { Anchor, Badge, Button, Code, Group, Stack, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState, type ReactNode } from 'react'
import {
  oneTalkQuery,
  talkColors,
  talks,
  talksKey,
  type Talk,
  type TalkStatus,
} from '../automation'
import { Confirm } from '../components/confirm'
import { Money } from '../components/money'
import { Problem } from '../components/problem'
import { When } from '../components/when'
import { count, counted } from '../figures'
import { gatewaysQuery, gatewayStates } from '../gateways'
import { soonAgain } from '../live'
import { useSubmit } from '../submit'

interface AboutProps {
  talk: Talk
  /** The session's name, when nothing above shows it. */
  name?: ReactNode
}

/** The summary of a session. */
export const SessionAbout = ({ talk, name }: AboutProps) => (
  <Stack gap={4}>
    <Group gap="xs">
      {name}
      <Badge color={talkColors[talk.status]} variant="light">
        {talk.status}
      </Badge>
    </Group>
    <Group gap="xs">
      <Code>{talk.modelId}</Code>
      <Text size="sm" c="dimmed">
        since <When at={talk.createdAt} />
      </Text>
    </Group>
    <Text size="sm" c="dimmed">
      {counted(talk.messageCount, 'message')} · {counted(talk.totalTokens.input, 'token')} in,{' '}
      {count(talk.totalTokens.output)} out · <Money amount={talk.totalCost} />
    </Text>
    {talk.gatewayId !== null && <ToolsOf talk={talk} gatewayId={talk.gatewayId} />}
    {talk.summary && (
      <Text size="sm" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
        {talk.summary}
      </Text>
    )}
  </Stack>
)

/** The gateway and the tools of a session. */
function ToolsOf({ talk, gatewayId }: { talk: Talk; gatewayId: string }) {
  const { data: gateways = [] } = useQuery({ ...gatewaysQuery, refetchInterval: soonAgain })
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
        : {toolsOf(talk)}
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
function toolsOf({ enabledTools, disabledTools }: Talk): string {
  const enabled = enabledTools === null ? 'all' : enabledTools.join(', ') || 'none'
  return disabledTools.length === 0 ? enabled : `${enabled}, except ${disabledTools.join(', ')}`
}

interface Move {
  label: string
  /** The states in which the action is available. */
  from: readonly TalkStatus[]
  work: (id: string) => Promise<unknown>
}

/** Source: contract 8.1. */
const moves: readonly Move[] = [
  { label: 'Pause', from: ['active'], work: (id) => talks.change(id, { status: 'paused' }) },
  { label: 'Resume', from: ['paused'], work: (id) => talks.change(id, { status: 'active' }) },
  { label: 'Complete', from: ['active', 'paused'], work: (id) => talks.complete(id) },
  {
    label: 'Cancel',
    from: ['active', 'paused'],
    work: (id) => talks.change(id, { status: 'cancelled' }),
  },
]

interface DeedsProps {
  talk: Talk
  /** A link to the page where messages can be sent. */
  wayOn?: ReactNode
  /** Called after the deletion. */
  onGone: () => void
}

/** The actions of a session. */
export function SessionDeeds({ talk, wayOn, onGone }: DeedsProps) {
  const { id, status, name, modelId } = talk
  const queries = useQueryClient()
  const [isDoomed, setDoomed] = useState(false)
  const refresh = () => queries.invalidateQueries({ queryKey: talksKey })
  const { submit, isBusy, error } = useSubmit(async (work: () => Promise<unknown>) => {
    await work()
    await refresh()
  })
  const remove = async () => {
    await talks.delete(id)
    onGone()
    queries.removeQueries(oneTalkQuery(id))
    await refresh()
  }
  return (
    <Stack gap="xs">
      <Problem error={error} />
      <Group gap="xs">
        {status === 'active' && wayOn}
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
        <Button size="xs" variant="subtle" color="red" onClick={() => setDoomed(true)}>
          Delete
        </Button>
      </Group>
      {isDoomed && (
        <Confirm
          question="Delete this session?"
          about={`“${name || modelId}” and all its messages are deleted. Its cost stays in your logs.`}
          label="Delete"
          onConfirm={remove}
          onClose={() => setDoomed(false)}
        />
      )}
    </Stack>
  )
}
