import { Paper, Text, Title } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { messagesQuery, type ChatMessage } from './queries'
import { ResourceList } from '../../components/resource-list'
import { toRows } from '../../api/paging'
import { SafeMarkdown } from '../../components/markdown'
import { Moment } from '../../components/moment'
import { Limit, ToolSteps } from './tool-step-list'
import { answered, isLimit, stepsIn, type ToolStep } from './tool-steps'

/** The messages of a session, oldest first. */
export function SessionMessages({ id }: { id: string }) {
  const query = useInfiniteQuery(messagesQuery(id))
  return (
    <section>
      <Title order={3} size="h5" mb="xs">
        Conversation
      </Title>
      <ResourceList
        query={query}
        rows={({ pages }) => toRows(pages, ({ messages }) => messages)}
        plural="messages"
        empty="No messages yet."
      >
        {(messages) =>
          withSteps(messages).map(({ message, steps }) => (
            <Message key={message.id} message={message} steps={steps} />
          ))
        }
      </ResourceList>
    </section>
  )
}

interface Entry {
  message: ChatMessage
  /** The tool calls of the message with their results. */
  steps: readonly ToolStep[]
}

/** Attaches tool results to the messages that called the tools. */
function withSteps(messages: readonly ChatMessage[]): Entry[] {
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
    <MessageText isModels={role === 'assistant'} text={content ?? ''} />
    {steps.length > 0 && <ToolSteps steps={steps} isComing={false} />}
  </Paper>
)

function MessageText({ isModels, text }: { isModels: boolean; text: string }) {
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
