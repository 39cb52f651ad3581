import { Anchor, Badge, Button, Code, Drawer, Group, Stack, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import {
  oneTalkQuery,
  talkColors,
  talks,
  talksKey,
  type Talk,
  type TalkStatus,
} from '../automation'
import { Confirm } from '../components/confirm'
import { Loaded } from '../components/loaded'
import { Money } from '../components/money'
import { Problem } from '../components/problem'
import { When } from '../components/when'
import { count } from '../figures'
import { useSubmit } from '../submit'
import { SessionMessages } from './session-messages'

interface Props {
  id: string
  onClose: () => void
}

/** One session: what it is, what was said in it, and what can be done with it. */
export function SessionDrawer({ id, onClose }: Props) {
  const query = useQuery(oneTalkQuery(id))
  return (
    <Drawer opened onClose={onClose} position="right" size="lg" title="Session">
      <Loaded query={query}>
        {(talk) => (
          <Stack gap="md">
            <About talk={talk} />
            <Deeds talk={talk} onGone={onClose} />
            <SessionMessages id={id} />
          </Stack>
        )}
      </Loaded>
    </Drawer>
  )
}

const About = ({ talk }: { talk: Talk }) => (
  <Stack gap={4}>
    <Group gap="xs">
      <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
        {talk.name || 'Without a name'}
      </Text>
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
      {count(talk.messageCount)} messages · {count(talk.totalTokens.input)} tokens in,{' '}
      {count(talk.totalTokens.output)} out · <Money amount={talk.totalCost} />
    </Text>
    {talk.gatewayId !== null && (
      <Text size="sm" c="dimmed">
        Tools of <Code>{talk.gatewayId}</Code>: {toolsOf(talk)}
      </Text>
    )}
    {talk.summary && (
      <Text size="sm" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
        {talk.summary}
      </Text>
    )}
  </Stack>
)

/** What its model may use of what its gateway has. */
function toolsOf({ enabledTools, disabledTools }: Talk): string {
  const enabled = enabledTools === null ? 'all' : enabledTools.join(', ') || 'none'
  return disabledTools.length === 0 ? enabled : `${enabled}, but not ${disabledTools.join(', ')}`
}

interface Move {
  label: string
  /** Where it is possible. */
  from: readonly TalkStatus[]
  work: (id: string) => Promise<unknown>
}

/** Source: api.md 17. */
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

function Deeds({ talk, onGone }: { talk: Talk; onGone: () => void }) {
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
        {status === 'active' && (
          <Anchor
            size="sm"
            renderRoot={(props) => <Link to="/playground" search={{ chat: id }} {...props} />}
          >
            Go on in the playground
          </Anchor>
        )}
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
          about={`“${name || modelId}” and all that was said in it is gone then. What it cost stays in your logs.`}
          label="Delete"
          onConfirm={remove}
          onClose={() => setDoomed(false)}
        />
      )}
    </Stack>
  )
}
