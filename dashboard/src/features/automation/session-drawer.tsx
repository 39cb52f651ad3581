import { Anchor, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { oneChatQuery, type Chat } from './queries'
import { Loaded } from '../../components/loaded'
import { FailureScope } from '../../components/query-failure'
import { SessionAbout, SessionDeeds } from './session-details'
import { SessionMessages } from './session-messages'
import { SidePanel } from '../../components/side-panel'

interface Props {
  id: string
  onClose: () => void
}

/** One session: summary, messages and actions. */
export function SessionDrawer({ id, onClose }: Props) {
  const query = useQuery(oneChatQuery(id))
  return (
    <SidePanel onClose={onClose} size="lg" title="Session">
      <FailureScope>
        <Loaded query={query} what="session">
          {(chat) => (
            <Stack gap="md">
              <SessionAbout
                chat={chat}
                name={
                  <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
                    {chat.name || 'Untitled'}
                  </Text>
                }
              />
              <SessionDeeds
                chat={chat}
                nextAction={<OpenSession chat={chat} />}
                onDeleted={onClose}
              />
              <SessionMessages id={id} />
            </Stack>
          )}
        </Loaded>
      </FailureScope>
    </SidePanel>
  )
}

/** A session with tools has a page of its own that shows its tool calls. */
const OpenSession = ({ chat: { id, gatewayId } }: { chat: Chat }) => (
  <Anchor
    size="sm"
    renderRoot={(props) =>
      gatewayId === null ? (
        <Link to="/playground" search={{ chat: id }} {...props} />
      ) : (
        <Link to="/sessions/$id" params={{ id }} {...props} />
      )
    }
  >
    {gatewayId === null ? 'Continue in playground' : 'Continue'}
  </Anchor>
)
