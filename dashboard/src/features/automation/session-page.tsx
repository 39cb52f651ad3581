import { Anchor, Paper, Stack, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { oneChatQuery, type Chat } from './queries'
import { Loaded } from '../../components/loaded'
import { enterSends, MessageBox } from './message-box'
import { Page } from '../../components/page'
import { Problem } from '../../components/problem'
import { ChatLog } from './conversation-log'
import { useConversation } from './use-conversation'
import { count } from '../../format/figures'
import { pollSoon } from '../../api/polling'
import { useMessage } from './message'
import { SessionAbout, SessionDeeds } from './session-details'

const route = getRouteApi('/home/sessions/$id')

/** One session: its messages and tool calls, live. */
export function SessionPage() {
  const { id } = route.useParams()
  const query = useQuery({ ...oneChatQuery(id), refetchInterval: pollSoon })
  const navigate = useNavigate()
  return (
    <Page
      title={query.data?.name || 'Session'}
      list="Sessions"
      back={
        <Anchor size="sm" renderRoot={(props) => <Link to="/sessions" {...props} />}>
          All sessions
        </Anchor>
      }
    >
      <Loaded query={query} what="session">
        {(chat) => (
          <>
            <SessionAbout chat={chat} />
            <SessionDeeds chat={chat} onDeleted={() => void navigate({ to: '/sessions' })} />
            <Conversation key={id} chat={chat} />
          </>
        )}
      </Loaded>
    </Page>
  )
}

const noMessages = () => undefined
const emptySession = () => Promise.resolve()

/** The conversation of a session, including messages that other clients add. */
function useSession({ id, messageCount, modelId, systemPrompt }: Chat) {
  const queries = useQueryClient()
  const conversation = useConversation({ id, onBegun: noMessages, onLoaded: emptySession })
  const { send, refresh } = conversation
  /** The number of messages shown. */
  const displayedCount = useRef<number>(undefined)
  const isOwn = useRef(false)
  useEffect(() => {
    // Messages sent here are shown already, with more detail than is stored.
    if (isOwn.current || displayedCount.current === messageCount) return
    const isFirst = displayedCount.current === undefined
    displayedCount.current = messageCount
    if (!isFirst) refresh().catch(noMessages)
  }, [messageCount])
  const sendMessage = async (text: string) => {
    isOwn.current = true
    try {
      await send(text, { model: modelId, systemPrompt: systemPrompt ?? '' })
      const saved = await queries.fetchQuery({ ...oneChatQuery(id), staleTime: 0 })
      displayedCount.current = saved.messageCount
    } catch {
      // The next poll shows the result.
    } finally {
      isOwn.current = false
    }
  }
  return { ...conversation, sendMessage }
}

function Conversation({ chat }: { chat: Chat }) {
  const { lines, earlierCount, isBusy, isLoading, error, sendMessage, stop } = useSession(chat)
  // After a failed load, sending would create another session.
  const isReady = !isLoading && !error
  const message = useMessage({ isReady, isBusy, onSend: (text) => void sendMessage(text) })
  return (
    <>
      <Paper withBorder p="md" miw={0}>
        <Stack gap="sm">
          <Problem error={error} />
          {earlierCount > 0 && <EarlierMessages id={chat.id} earlierCount={earlierCount} />}
          <ChatLog
            label={`Conversation with ${chat.modelId}`}
            lines={lines}
            isBusy={isBusy}
            height={{ base: '42vh', sm: '50vh' }}
          >
            {isLoading ? 'Loading messages…' : 'No messages yet.'}
          </ChatLog>
        </Stack>
      </Paper>
      {chat.status === 'active' ? (
        <MessageBox
          text={message.text}
          onText={message.setText}
          hint={enterSends}
          isBusy={isBusy}
          isWaiting={message.isWaiting && isLoading}
          onSend={message.send}
          onStop={stop}
        />
      ) : (
        <Text size="sm" c="dimmed">
          {chat.status === 'paused'
            ? 'This session is paused. Resume it to send messages.'
            : `This session is ${chat.status}. No further messages can be sent.`}
        </Text>
      )}
    </>
  )
}

const EarlierMessages = ({ id, earlierCount }: { id: string; earlierCount: number }) => (
  <Text size="sm" c="dimmed">
    {count(earlierCount)} earlier messages:{' '}
    <Anchor
      inherit
      underline="always"
      renderRoot={(props) => <Link to="/sessions" search={{ open: id }} {...props} />}
    >
      show the full conversation
    </Anchor>
    .
  </Text>
)
