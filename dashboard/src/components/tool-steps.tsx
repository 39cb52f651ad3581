import { Badge, Code, Group, Loader, Paper, Spoiler, Stack, Text } from '@mantine/core'
import type { ToolStep } from '../tool-steps'

interface Props {
  steps: readonly ToolStep[]
  /** More may come. */
  isComing: boolean
}

/** What a model had done by tools: the calls with their arguments, and the results as they come. */
export const ToolSteps = ({ steps, isComing }: Props) => (
  <Stack gap="xs">
    {steps.map((step, index) => (
      <Step key={index} step={step} isComing={isComing} />
    ))}
  </Stack>
)

function Step({ step, isComing }: { step: ToolStep; isComing: boolean }) {
  const { name, text, result } = step
  return (
    <Paper withBorder p="xs" component="section" aria-label={`Tool ${name}`}>
      <Stack gap={4}>
        <Group gap="xs">
          <Text size="xs" c="dimmed">
            Tool
          </Text>
          <Code>{name}</Code>
          <State step={step} isComing={isComing} />
        </Group>
        <Spoiler maxHeight={120} showLabel="All arguments" hideLabel="Less">
          <Output text={indented(text)} label="Arguments" />
        </Spoiler>
        {result !== undefined && (
          <Spoiler maxHeight={120} showLabel="All of the result" hideLabel="Less">
            <Output text={result === '' ? 'Nothing.' : result} label="Result" />
          </Spoiler>
        )}
      </Stack>
    </Paper>
  )
}

function State({ step: { result }, isComing }: { step: ToolStep; isComing: boolean }) {
  if (result === undefined && isComing) return <Loader type="dots" size="xs" aria-label="It runs" />
  if (result === undefined) {
    return (
      <Badge color="gray" variant="light">
        no result
      </Badge>
    )
  }
  const hasFailed = /^error/i.test(result)
  return (
    <Badge color={hasFailed ? 'red' : 'green'} variant="light">
      {hasFailed ? 'failed' : 'done'}
    </Badge>
  )
}

/** Text, whatever it holds. */
const Output = ({ text, label }: { text: string; label: string }) => (
  <Code
    block
    tabIndex={0}
    aria-label={label}
    style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}
  >
    {text}
  </Code>
)

/** Arguments that are still coming are no JSON yet. */
function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2)
  } catch {
    return text
  }
}
