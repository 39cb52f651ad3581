import { Anchor, Button, Code, Drawer, Group, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Copy } from '../../components/copy'
import { Facts } from '../../components/facts'
import { Loaded } from '../../components/loaded'
import { When } from '../../components/when'
import {
  aboutOf,
  actorOf,
  changeQuery,
  deedOf,
  type Change,
  type TrailSearch,
} from '../../operator/audit-trail'

interface Props {
  /** The id of the request that made the change. */
  request: string
  onClose: () => void
  /** Lists what has to do with it. */
  onFilter: (filter: TrailSearch) => void
}

/** One change in full. */
export function ChangeDrawer({ request, onClose, onFilter }: Props) {
  const query = useQuery(changeQuery(request))
  return (
    <Drawer opened onClose={onClose} position="right" size="lg" title="Change">
      <Loaded query={query}>
        {(change) =>
          change ? (
            <Details change={change} onFilter={onFilter} />
          ) : (
            <Text size="sm">This request changed nothing.</Text>
          )
        }
      </Loaded>
    </Drawer>
  )
}

type DetailsProps = Pick<Props, 'onFilter'> & { change: Change }

const Details = ({ change, onFilter }: DetailsProps) => (
  <Stack gap="lg">
    <Text fw={500} ff="monospace" style={{ overflowWrap: 'anywhere' }}>
      {deedOf(change)}
    </Text>
    <Facts
      facts={[
        ['When', <When key="when" at={change.created_at} withSeconds />],
        ['Who', actorOf(change)],
        ['From', change.client_address ?? 'not known'],
        ['About', <About key="about" change={change} />],
        ['Request', <Code key="request">{change.request_id}</Code>],
      ]}
    />
    <Sent sent={change.sent} />
    <Group gap="xs">
      {change.concerned.map((id) => (
        <Button
          key={id}
          size="xs"
          variant="default"
          onClick={() => onFilter({ object: id, search: undefined, actor: undefined })}
        >
          All about {id}
        </Button>
      ))}
      <Button size="xs" variant="default" onClick={() => onFilter({ actor: change.actor })}>
        All by {actorOf(change)}
      </Button>
    </Group>
  </Stack>
)

/** What was changed; its page, where there is one. */
function About({ change }: { change: Change }) {
  const { object_kind: kind, object_id: id } = change
  if (id === null) return aboutOf(change)
  return (
    <>
      {aboutOf(change)} <Place kind={kind} id={id} />
    </>
  )
}

function Place({ kind, id }: { kind: string; id: string }) {
  const link = (
    to: '/operator/users/$id' | '/operator/organizations/$id' | '/operator/tickets/$id',
  ) => (
    <Anchor size="sm" renderRoot={(props) => <Link to={to} params={{ id }} {...props} />}>
      {id}
    </Anchor>
  )
  switch (kind) {
    case 'user':
      return link('/operator/users/$id')
    case 'organization':
      return link('/operator/organizations/$id')
    case 'ticket':
      return link('/operator/tickets/$id')
    default:
      return <Code>{id}</Code>
  }
}

const pretty = (value: unknown) => JSON.stringify(value, undefined, 2)

const Sent = ({ sent }: { sent: Change['sent'] }) => (
  <Stack gap="xs" component="section" aria-label="What was sent">
    <Group justify="space-between">
      <Title order={3} size="h5">
        What was sent
      </Title>
      {sent !== null && <Copy label="Copy" value={pretty(sent)} />}
    </Group>
    {sent === null ? (
      <Text size="sm" c="dimmed">
        Nothing: the route says it all.
      </Text>
    ) : (
      <>
        <Code block style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
          {pretty(sent)}
        </Code>
        <Text size="xs" c="dimmed">
          Secrets are not kept: [set] stands where one was.
        </Text>
      </>
    )}
  </Stack>
)
