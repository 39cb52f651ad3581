import { Anchor, Badge, Group, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Card } from '../components/card'
import { Loaded } from '../components/loaded'
import { statusColors, type Connection } from '../connections'
import { count } from '../figures'
import { gatewayConnectionsQuery, type Gateway } from '../gateways'
import { soonAgain } from '../live'
import { ConnectionModels } from './connection-models'

/** The models of a gateway: it has one connection per provider it serves. */
export function GatewayModels({ gateway: { id } }: { gateway: Gateway }) {
  const query = useQuery({ ...gatewayConnectionsQuery(id), refetchInterval: soonAgain })
  return (
    <Card title="Models">
      <Loaded query={query}>
        {(connections) =>
          connections.length === 0 ? (
            <Text size="sm" c="dimmed">
              After the gateway has connected for the first time, there is one connection per
              provider it serves, and its models are listed here.
            </Text>
          ) : (
            <>
              <Text size="sm" c="dimmed">
                Available under these names to everyone who may use the connection. The operator
                sets the prices of catalogue models; the gateway's manager sets the others.
              </Text>
              {connections.map((one) => (
                <Served key={one.id} connection={one} />
              ))}
            </>
          )
        }
      </Loaded>
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
