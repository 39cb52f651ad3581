import { Paper, Stack, Text, Title } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { saidQuery, type SaidMessage } from '../automation'
import { Loaded } from '../components/loaded'
import { SafeMarkdown } from '../components/markdown'
import { Moment } from '../components/moment'
import { More } from '../components/more'
import { Limit, ToolSteps } from '../components/tool-steps'
import { answered, isLimit, stepsIn, type ToolStep } from '../tool-steps'

/** The messages of a session, oldest first. */
export function SessionMessages({ id }: { id: string }) {
  const query = useInfiniteQuery(saidQuery(id))
  return (
    <section>
      <Title order={3} size="h5" mb="xs">
        Conversation
      </Title>
      <Loaded query={query}>
        {({ pages }) => {
          const messages = withSteps(pages.flatMap((page) => page.messages))
          return (
            <Stack gap="sm">
              {messages.length === 0 && (
                <Text size="sm" c="dimmed">
                  No messages yet.
                </Text>
              )}
              {messages.map(({ message, steps }) => (
                <Message key={message.id} message={message} steps={steps} />
              ))}
              <More query={query} />
            </Stack>
          )
        }}
      </Loaded>
    </section>
  )
}

interface Entry {
  message: SaidMessage
  /** The tool calls of the message with their results. */
  steps: readonly ToolStep[]
}

/** Attaches tool results to the messages that called the tools. */
function withSteps(messages: readonly SaidMessage[]): Entry[] {
  const entries: Entry[] = []
  for (const message of messages) {
    const { role, content, tool_call_id, tool_calls, createdAt } = message
    const atMs = Date.parse(createdAt)
    const last = entries.at(-1)
    if (role === 'tool' && last && last.steps.length > 0) {
      const result = { tool_call_id: tool_call_id ?? '', content: content ?? '' }
      entries[entries.length - 1] = { ...last, steps: answered(last.steps, result, atMs) }
    } else entries.push({ message, steps: stepsIn(tool_calls, atMs) })
  }
  return entries
}

const Message = ({ message: { role, content, createdAt }, steps }: Entry) => (
  <Paper withBorder p="sm">
    <Text size="xs" c="dimmed">
      {role} · <Moment at={createdAt} />
    </Text>
    <Words isModels={role === 'assistant'} text={content ?? ''} />
    {steps.length > 0 && <ToolSteps steps={steps} isComing={false} />}
  </Paper>
)

function Words({ isModels, text }: { isModels: boolean; text: string }) {
  if (isModels && isLimit(text)) return <Limit text={text} />
  if (isModels) {
    return (
      <div style={{ overflowWrap: 'anywhere' }}>
        <SafeMarkdown text={text} />
      </div>
    )
  }
  return (
    <Text size="sm" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
      {text}
    </Text>
  )
}
