import { Code, Paper, Stack, Text, Title } from '@mantine/core'
import { useInfiniteQuery } from '@tanstack/react-query'
import { saidQuery, type SaidMessage } from '../automation'
import { Loaded } from '../components/loaded'
import { SafeMarkdown } from '../components/markdown'
import { Moment } from '../components/moment'
import { More } from '../components/more'

/** What was said in a session, oldest first. */
export function SessionMessages({ id }: { id: string }) {
  const query = useInfiniteQuery(saidQuery(id))
  return (
    <section>
      <Title order={3} size="h5" mb="xs">
        Conversation
      </Title>
      <Loaded query={query}>
        {({ pages }) => {
          const messages = pages.flatMap((page) => page.messages)
          return (
            <Stack gap="sm">
              {messages.length === 0 && (
                <Text size="sm" c="dimmed">
                  Nothing was said yet.
                </Text>
              )}
              {messages.map((message) => (
                <Message key={message.id} message={message} />
              ))}
              <More query={query} />
            </Stack>
          )
        }}
      </Loaded>
    </section>
  )
}

const Message = ({ message: { role, content, tool_calls: calls, createdAt } }: MessageProps) => (
  <Paper withBorder p="sm">
    <Text size="xs" c="dimmed">
      {role} · <Moment at={createdAt} />
    </Text>
    {role === 'assistant' ? (
      <div style={{ overflowWrap: 'anywhere' }}>
        <SafeMarkdown text={content ?? ''} />
      </div>
    ) : (
      <Text size="sm" style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
        {content}
      </Text>
    )}
    {calls !== null && calls.length > 0 && (
      <Code block tabIndex={0}>
        {JSON.stringify(calls, null, 2)}
      </Code>
    )}
  </Paper>
)

interface MessageProps {
  message: SaidMessage
}
