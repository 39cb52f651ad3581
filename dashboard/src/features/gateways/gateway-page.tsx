import { Alert, Anchor, Badge, Button, Group, SimpleGrid, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link, useNavigate } from '@tanstack/react-router'
import { useState } from 'react'
import { Card } from '../../components/card'
import { Command } from '../../components/command'
import { Empty } from '../../components/empty'
import { Facts } from '../../components/facts'
import { useMayDelete, useOwnerName } from './gateway-owner'
import { Loaded } from '../../components/loaded'
import { LiveMoment } from '../../components/moment'
import { Page } from '../../components/page'
import { When } from '../../components/when'
import { formatCount } from '../../format/figures'
import { connectCommand, gatewaysQuery, gatewayStates, meaningOf, type Gateway } from './queries'
import { pollSoon } from '../../api/polling'
import { DeleteGateway } from './delete-gateway'
import { GatewayModels } from './gateway-models'
import { GatewayRequests } from './gateway-requests'

const route = getRouteApi('/home/gateways/$id')

/** One gateway: status, models, tools and requests. */
export function GatewayPage() {
  const { id } = route.useParams()
  const query = useQuery({
    ...gatewaysQuery,
    refetchInterval: pollSoon,
    // The list is the only endpoint that returns gateways.
    select: (gateways: readonly Gateway[]) => gateways.find((one) => one.id === id) ?? null,
  })
  const { data: gateway } = query
  return (
    <Page
      title={gateway?.name ?? 'Gateway'}
      list="Gateways"
      back={
        <Anchor size="sm" renderRoot={(props) => <Link to="/gateways" {...props} />}>
          All gateways
        </Anchor>
      }
      actions={gateway && <Deletion gateway={gateway} />}
    >
      <Loaded query={query} what="gateway">
        {(one) => (one ? <GatewaySections gateway={one} /> : <DeletedGateway />)}
      </Loaded>
    </Page>
  )
}

const DeletedGateway = () => (
  <Empty title="Gateway not found">
    It was deleted, or it belongs to an organization that you are not a member of.
  </Empty>
)

function Deletion({ gateway }: { gateway: Gateway }) {
  const [isDeleting, setDeleting] = useState(false)
  const navigate = useNavigate()
  if (!useMayDelete(gateway)) return undefined
  return (
    <>
      <Button variant="default" onClick={() => setDeleting(true)}>
        Delete gateway
      </Button>
      {isDeleting && (
        <DeleteGateway
          gateway={gateway}
          onDeleted={() => navigate({ to: '/gateways' })}
          onClose={() => setDeleting(false)}
        />
      )}
    </>
  )
}

const GatewaySections = ({ gateway }: { gateway: Gateway }) => (
  <>
    <Group gap="xs">
      <Badge color={gatewayStates[gateway.status].color} variant="light">
        {gateway.status}
      </Badge>
      <Text size="sm" role="status">
        {meaningOf(gateway)}
      </Text>
    </Group>
    <Advice gateway={gateway} />
    <SimpleGrid cols={{ base: 1, md: 2 }} spacing="lg">
      <Card title="Details">
        <Facts facts={factsOf(gateway)} />
      </Card>
      <Card title="Tools">
        <Tools tools={gateway.tools} />
      </Card>
    </SimpleGrid>
    <GatewayModels gateway={gateway} />
    {gateway.providers.length > 0 && <GatewayRequests gateway={gateway} />}
  </>
)

const factsOf = (gateway: Gateway) =>
  [
    ['Last seen', <LiveMoment key="heard" at={gateway.last_heartbeat_at} />],
    ['Version', gateway.version ?? 'unknown'],
    ['Providers', gateway.providers.join(', ') || 'none'],
    ['Owner', <GatewayOwner key="whose" gateway={gateway} />],
    ['Created', <When key="made" at={gateway.created_at} />],
    ['ID', gateway.id],
  ] as const

function GatewayOwner({ gateway }: { gateway: Gateway }) {
  const name = useOwnerName(gateway)
  return gateway.is_public ? `${name}, public` : name
}

/** Instructions while the gateway is not connected. */
function Advice({ gateway }: { gateway: Gateway }) {
  const { status, last_heartbeat_at: heard } = gateway
  if (status === 'online') return undefined
  if (heard !== null && status !== 'offline') return undefined
  return (
    <Alert color="yellow" title={heard === null ? 'Connect this gateway' : 'Gateway offline'}>
      <Stack gap="xs">
        <Text size="sm">
          Run this command on the machine with the models, with the token in{' '}
          <code>TOLLGATE_GATEWAY_TOKEN</code>. The token was shown when the gateway was created; if
          it is lost, delete the gateway and create another.
        </Text>
        <Command label="Command" text={connectCommand(window.location.origin)} />
      </Stack>
    </Alert>
  )
}

const Tools = ({ tools }: Pick<Gateway, 'tools'>) =>
  tools.length === 0 ? (
    <Text size="sm" c="dimmed">
      No tools. The gateway's configuration file lists the tools that sessions may use.
    </Text>
  ) : (
    <Stack gap="xs">
      <Text size="sm" c="dimmed">
        {formatCount(tools.length, 'tool')} for sessions with this gateway. Tools run on its
        machine.
      </Text>
      <Stack
        gap="xs"
        component="ul"
        m={0}
        p={0}
        mah={320}
        tabIndex={0}
        aria-label="Tools"
        style={{ overflowY: 'auto', listStyle: 'none' }}
      >
        {tools.map(({ name, description }) => (
          <li key={name}>
            <Text size="sm" ff="monospace" style={{ overflowWrap: 'anywhere' }}>
              {name}
            </Text>
            <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
              {description}
            </Text>
          </li>
        ))}
      </Stack>
    </Stack>
  )
