import {
  Alert,
  Badge,
  Box,
  Code,
  Group,
  Loader,
  Paper,
  Stack,
  Text,
  UnstyledButton,
} from '@mantine/core'
import { useDisclosure, useInterval } from '@mantine/hooks'
import { useState } from 'react'
import { duration } from '../figures'
import { stateOf, tookMs, type StepState, type ToolStep } from '../tool-steps'

interface Props {
  steps: readonly ToolStep[]
  /** More may come. */
  isComing: boolean
}

/** What a model had done by tools: the calls with their arguments, and the results as they come. */
export const ToolSteps = ({ steps, isComing }: Props) => (
  <Stack gap="xs">
    {steps.map((step, index) => (
      <Step key={index} step={step} state={stateOf(steps, index, isComing)} />
    ))}
  </Stack>
)

/** Where a message has come to one of its limits: words of the service, none of the model's. */
export const Limit = ({ text }: { text: string }) => (
  <Alert color="yellow" title="A limit was reached">
    {text}
  </Alert>
)

function Step({ step, state }: { step: ToolStep; state: StepState }) {
  const { name, text, result } = step
  return (
    <Paper withBorder p="xs" component="section" aria-label={`Tool ${name}`}>
      <Stack gap={4}>
        <Group gap="xs" mih={22}>
          <Text size="xs" c="dimmed">
            Tool
          </Text>
          <Code style={{ overflowWrap: 'anywhere' }}>{name}</Code>
          <State state={state} />
          <Took step={step} state={state} />
        </Group>
        <Folded label="Arguments" text={text} />
        {result !== undefined && (
          <Folded label="Result" text={result === '' ? 'Nothing.' : result} />
        )}
      </Stack>
    </Paper>
  )
}

const colors = {
  waits: 'gray',
  done: 'green',
  failed: 'red',
  'not run': 'gray',
  'no result': 'gray',
} as const satisfies Record<Exclude<StepState, 'runs'>, string>

const State = ({ state }: { state: StepState }) =>
  state === 'runs' ? (
    <Loader type="dots" size="xs" role="img" aria-label="It runs" />
  ) : (
    <Badge color={colors[state]} variant="light">
      {state}
    </Badge>
  )

function Took({ step, state }: { step: ToolStep; state: StepState }) {
  if (state === 'runs' && step.startedAtMs !== undefined) {
    return <Running sinceMs={step.startedAtMs} />
  }
  const ms = tookMs(step)
  // What was not run took no time.
  if (ms === undefined || state === 'not run') return undefined
  return (
    <Text size="xs" c="dimmed">
      {duration(ms)}
    </Text>
  )
}

const secondMs = 1000

/** Whole seconds, as they go by. */
function Running({ sinceMs }: { sinceMs: number }) {
  const [nowMs, setNow] = useState(Date.now)
  useInterval(() => setNow(Date.now()), secondMs, { autoInvoke: true })
  const seconds = Math.max(0, Math.floor((nowMs - sinceMs) / secondMs))
  return (
    <Text size="xs" c="dimmed" aria-hidden style={{ fontVariantNumeric: 'tabular-nums' }}>
      {seconds} s
    </Text>
  )
}

/** The beginning of a text on one line, and all of it for who asks. */
function Folded({ label, text }: { label: string; text: string }) {
  const [isOpen, { toggle }] = useDisclosure()
  return (
    <Box role="group" aria-label={label}>
      <UnstyledButton onClick={toggle} aria-expanded={isOpen} w="100%" fz="xs">
        <Group gap={6} wrap="nowrap">
          <Text span inherit c="dimmed" aria-hidden>
            {isOpen ? '▾' : '▸'}
          </Text>
          <Text span inherit fw={500}>
            {label}
          </Text>
          {!isOpen && (
            <Text span inherit c="dimmed" ff="monospace" truncate miw={0}>
              {beginningOf(text)}
            </Text>
          )}
        </Group>
      </UnstyledButton>
      {isOpen && (
        <Code
          block
          mt={4}
          mah={320}
          tabIndex={0}
          aria-label={`All of it: ${label}`}
          style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere', overflowY: 'auto' }}
        >
          {indented(text)}
        </Code>
      )}
    </Box>
  )
}

const mostOfBeginning = 200

/** More than that is on no line. */
const beginningOf = (text: string) => text.slice(0, mostOfBeginning).replaceAll(/\s+/g, ' ')

/** Arguments that are still coming are no JSON yet, and results need not be. */
function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
