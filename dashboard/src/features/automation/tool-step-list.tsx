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
import { duration } from '../../format/figures'
import { stateOf, tookMs, type StepState, type ToolStep } from './tool-steps'

interface Props {
  steps: readonly ToolStep[]
  /** Whether more steps may follow. */
  isComing: boolean
}

/** The tool calls of a response: arguments, and results as they arrive. */
export const ToolSteps = ({ steps, isComing }: Props) => (
  <Stack gap="xs">
    {steps.map((step, index) => (
      <Step key={index} step={step} state={stateOf(steps, index, isComing)} />
    ))}
  </Stack>
)

/** The notice that a message reached a limit; the text is the service's, not the model's. */
export const Limit = ({ text }: { text: string }) => (
  <Alert color="yellow" title="Limit reached">
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
          <Duration step={step} state={state} />
        </Group>
        <Folded label="Arguments" text={text} />
        {result !== undefined && <Folded label="Result" text={result === '' ? 'Empty' : result} />}
      </Stack>
    </Paper>
  )
}

const colors = {
  waiting: 'gray',
  done: 'green',
  failed: 'red',
  'not run': 'gray',
  'no result': 'gray',
} as const satisfies Record<Exclude<StepState, 'running'>, string>

const State = ({ state }: { state: StepState }) =>
  state === 'running' ? (
    <Loader type="dots" size="xs" role="img" aria-label="Running" />
  ) : (
    <Badge color={colors[state]} variant="light">
      {state}
    </Badge>
  )

function Duration({ step, state }: { step: ToolStep; state: StepState }) {
  if (state === 'running' && step.startedAtMs !== undefined) {
    return <Running sinceMs={step.startedAtMs} />
  }
  const ms = tookMs(step)
  // A call that was not run has no duration.
  if (ms === undefined || state === 'not run') return undefined
  return (
    <Text size="xs" c="dimmed">
      {duration(ms)}
    </Text>
  )
}

const secondMs = 1000

/** Elapsed whole seconds, updated every second. */
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

/** The start of a text on one line; expands to the whole text. */
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
          aria-label={`Full text: ${label}`}
          style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere', overflowY: 'auto' }}
        >
          {indented(text)}
        </Code>
      )}
    </Box>
  )
}

const maxOfBeginning = 200

/** A longer start would not fit on one line. */
const beginningOf = (text: string) => text.slice(0, maxOfBeginning).replaceAll(/\s+/g, ' ')

/** Arguments are incomplete JSON while they stream, and results need not be JSON. */
function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
