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

/** One session: what it is, what was said in it, and what can be done with it. */
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
                  {talk.name || 'Without a name'}
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

/** One with tools has a page of its own, on which they are seen. */
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
    {gatewayId === null ? 'Go on in the playground' : 'Go on with it'}
  </Anchor>
)
