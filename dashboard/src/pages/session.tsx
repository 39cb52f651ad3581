import { Anchor, Paper, Stack, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useEffect, useRef } from 'react'
import { oneTalkQuery, type Talk } from '../automation'
import { Loaded } from '../components/loaded'
import { enterSends, MessageBox } from '../components/message-box'
import { Page } from '../components/page'
import { Problem } from '../components/problem'
import { TalkLog } from '../components/talk-log'
import { useConversation } from '../conversation'
import { count } from '../figures'
import { soonAgain } from '../live'
import { useMessage } from '../message'
import { SessionAbout, SessionDeeds } from './session-about'

const route = getRouteApi('/home/sessions/$id')

/** One session: its messages and tool calls, live. */
export function SessionPage() {
  const { id } = route.useParams()
  const query = useQuery({ ...oneTalkQuery(id), refetchInterval: soonAgain })
  const navigate = useNavigate()
  return (
    <Page
      title={query.data?.name || 'Session'}
      back={
        <Anchor size="sm" renderRoot={(props) => <Link to="/sessions" {...props} />}>
          All sessions
        </Anchor>
      }
    >
      <Loaded query={query}>
        {(talk) => (
          <>
            <SessionAbout talk={talk} />
            <SessionDeeds talk={talk} onGone={() => void navigate({ to: '/sessions' })} />
            <Conversation key={id} talk={talk} />
          </>
        )}
      </Loaded>
    </Page>
  )
}

const nothing = () => undefined
const nothingYet = () => Promise.resolve()

/** The conversation of a session, including messages that other clients add. */
function useSession({ id, messageCount, modelId, systemPrompt }: Talk) {
  const queries = useQueryClient()
  const conversation = useConversation({ id, onBegun: nothing, onFound: nothingYet })
  const { send, refresh } = conversation
  /** The number of messages shown. */
  const seen = useRef<number>(undefined)
  const isOwn = useRef(false)
  useEffect(() => {
    // Messages sent here are shown already, with more detail than is stored.
    if (isOwn.current || seen.current === messageCount) return
    const isFirst = seen.current === undefined
    seen.current = messageCount
    if (!isFirst) refresh().catch(nothing)
  }, [messageCount])
  const say = async (text: string) => {
    isOwn.current = true
    try {
      await send(text, { model: modelId, systemPrompt: systemPrompt ?? '' })
      const kept = await queries.fetchQuery({ ...oneTalkQuery(id), staleTime: 0 })
      seen.current = kept.messageCount
    } catch {
      // The next poll shows the result.
    } finally {
      isOwn.current = false
    }
  }
  return { ...conversation, say }
}

function Conversation({ talk }: { talk: Talk }) {
  const { lines, earlier, isBusy, isLoading, error, say, stop } = useSession(talk)
  // After a failed load, sending would create another session.
  const isReady = !isLoading && !error
  const message = useMessage({ isReady, isBusy, onSend: (said) => void say(said) })
  return (
    <>
      <Paper withBorder p="md" miw={0}>
        <Stack gap="sm">
          <Problem error={error} />
          {earlier > 0 && <Earlier id={talk.id} earlier={earlier} />}
          <TalkLog
            label={`Conversation with ${talk.modelId}`}
            lines={lines}
            isBusy={isBusy}
            height={{ base: '42vh', sm: '50vh' }}
          >
            {isLoading ? 'Loading messages…' : 'No messages yet.'}
          </TalkLog>
        </Stack>
      </Paper>
      {talk.status === 'active' ? (
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
          {talk.status === 'paused'
            ? 'This session is paused. Resume it to send messages.'
            : `This session is ${talk.status}. No further messages can be sent.`}
        </Text>
      )}
    </>
  )
}

const Earlier = ({ id, earlier }: { id: string; earlier: number }) => (
  <Text size="sm" c="dimmed">
    {count(earlier)} earlier messages:{' '}
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
