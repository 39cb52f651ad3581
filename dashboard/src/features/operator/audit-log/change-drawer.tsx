import { Anchor, Button, Code, Group, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Copy } from '../../../components/copy'
import { Facts } from '../../../components/facts'
import { Loaded } from '../../../components/loaded'
import { FailureScope } from '../../../components/query-failure'
import { When } from '../../../components/when'
import { actionOf, routeOf } from './action-names'
import { aboutOf, actorOf, changeQuery, type Change, type TrailSearch } from './queries'
import { toPrettyJson } from '../../../format/json'
import { SidePanel } from '../../../components/side-panel'

interface Props {
  /** The id of the request that made the change. */
  request: string
  onClose: () => void
  /** Applies a filter for related changes. */
  onFilter: (filter: TrailSearch) => void
}

/** The details of one change. */
export function ChangeDrawer({ request, onClose, onFilter }: Props) {
  const query = useQuery(changeQuery(request))
  return (
    <SidePanel onClose={onClose} size="lg" title="Change">
      <FailureScope>
        <Loaded query={query}>
          {(change) =>
            change ? (
              <Details change={change} onFilter={onFilter} />
            ) : (
              <Text size="sm">This request made no changes.</Text>
            )
          }
        </Loaded>
      </FailureScope>
    </SidePanel>
  )
}

type DetailsProps = Pick<Props, 'onFilter'> & { change: Change }

const Details = ({ change, onFilter }: DetailsProps) => (
  <Stack gap="lg">
    <Text fw={500}>{actionOf(change)}</Text>
    <Facts
      facts={[
        ['Time', <When key="when" at={change.created_at} withSeconds />],
        ['Actor', actorOf(change)],
        ['IP address', change.client_address ?? 'unknown'],
        ['Object', <About key="about" change={change} />],
        ['Route', <Code key="route">{routeOf(change)}</Code>],
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
          All about {change.names[id] ?? id}
        </Button>
      ))}
      <Button size="xs" variant="default" onClick={() => onFilter({ actor: change.actor })}>
        All by {actorOf(change)}
      </Button>
    </Group>
  </Stack>
)

/** The changed object, with a link to its page if it has one. */
function About({ change }: { change: Change }) {
  const { object_kind: kind, object_id: id } = change
  if (id === null) return aboutOf(change)
  return (
    <>
      {aboutOf(change)} <ChangeTarget kind={kind} id={id} name={change.names[id] ?? id} />
    </>
  )
}

function ChangeTarget({ kind, id, name }: { kind: string; id: string; name: string }) {
  const link = (
    to: '/operator/users/$id' | '/operator/organizations/$id' | '/operator/tickets/$id',
  ) => (
    <Anchor size="sm" renderRoot={(props) => <Link to={to} params={{ id }} {...props} />}>
      {name}
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
      return name === id ? <Code>{id}</Code> : name
  }
}

const Sent = ({ sent }: { sent: Change['sent'] }) => (
  <Stack gap="xs" component="section" aria-label="Request body">
    <Group justify="space-between">
      <Title order={3} size="h5">
        Request body
      </Title>
      {sent !== null && <Copy label="Copy" value={toPrettyJson(sent)} />}
    </Group>
    {sent === null ? (
      <Text size="sm" c="dimmed">
        Empty.
      </Text>
    ) : (
      <>
        <Code block style={{ whiteSpace: 'pre-wrap', overflowWrap: 'anywhere' }}>
          {toPrettyJson(sent)}
        </Code>
        <Text size="xs" c="dimmed">
          Secrets are redacted and shown as [set].
        </Text>
      </>
    )}
  </Stack>
)
