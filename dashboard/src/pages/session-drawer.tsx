import { Anchor, Drawer, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { oneTalkQuery, type Talk } from '../automation'
import { Loaded } from '../components/loaded'
import { SessionAbout, SessionDeeds } from './session-about'
import { SessionMessages } from './session-messages'

interface Props {
  id: string
  onClose: () => void
}

/** One session: summary, messages and actions. */
export function SessionDrawer({ id, onClose }: Props) {
  const query = useQuery(oneTalkQuery(id))
  return (
    <Drawer opened onClose={onClose} position="right" size="lg" title="Session">
      <Loaded query={query}>
        {(talk) => (
          <Stack gap="md">
            <SessionAbout
              talk={talk}
              name={
                <Text fw={600} style={{ overflowWrap: 'anywhere' }}>
                  {talk.name || 'Untitled'}
                </Text>
              }
            />
            <SessionDeeds talk={talk} wayOn={<WayOn talk={talk} />} onGone={onClose} />
            <SessionMessages id={id} />
          </Stack>
        )}
      </Loaded>
    </Drawer>
  )
}

/** A session with tools has a page of its own that shows its tool calls. */
const WayOn = ({ talk: { id, gatewayId } }: { talk: Talk }) => (
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
