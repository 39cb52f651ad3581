import { Anchor, Badge, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Card } from '../../components/card'
import { ResourceList } from '../../components/resource-list'
import { allRows } from '../../api/paging'
import { statusColors, type Connection } from '../connections/queries'
import { count } from '../../format/figures'
import { gatewayConnectionsQuery, type Gateway } from './queries'
import { pollSoon } from '../../api/polling'
import { ConnectionModels } from '../connections/connection-models'

/** The models of a gateway: it has one connection per provider it serves. */
export function GatewayModels({ gateway: { id } }: { gateway: Gateway }) {
  const query = useQuery({ ...gatewayConnectionsQuery(id), refetchInterval: pollSoon })
  return (
    <Card title="Models">
      <ResourceList
        query={query}
        rows={(connections) => allRows(connections)}
        plural="connections"
        empty="After the gateway has connected for the first time, there is one connection per provider it serves, and its models are listed here."
      >
        {(connections) => (
          <>
            <Text size="sm" c="dimmed">
              Available under these names to everyone who may use the connection. The operator sets
              the prices of catalog models; the gateway's manager sets the others.
            </Text>
            {connections.map((one) => (
              <Served key={one.id} connection={one} />
            ))}
          </>
        )}
      </ResourceList>
    </Card>
  )
}

/** A connection with its models. */
const Served = ({ connection }: { connection: Connection }) => {
  const { id, name, provider, status, last_error: error, model_count: models } = connection
  return (
    <Stack gap="xs" component="section" aria-label={name}>
      <Group gap="xs">
        <Anchor
          fw={500}
          style={{ overflowWrap: 'anywhere' }}
          renderRoot={(props) => <Link to="/connections/$id" params={{ id }} {...props} />}
        >
          {name}
        </Anchor>
        <Badge color={statusColors[status]} variant="light">
          {status}
        </Badge>
        <Text size="sm" c="dimmed">
          {provider}, {count(models)} served now
        </Text>
      </Group>
      {error && (
        <Text size="xs" c="red">
          {error}
        </Text>
      )}
      <ConnectionModels connection={connection} />
    </Stack>
  )
}
