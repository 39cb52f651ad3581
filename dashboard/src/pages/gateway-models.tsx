import { Anchor, Badge, Code, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Card } from '../components/card'
import { ListTable } from '../components/list-table'
import { Loaded } from '../components/loaded'
import { statusColors, type Connection } from '../connections'
import { count } from '../figures'
import { gatewayConnectionsQuery, type Gateway } from '../gateways'
import { soonAgain } from '../live'

/** What a gateway is called by: its connections, one for each provider that it serves. */
export function GatewayModels({ gateway: { id } }: { gateway: Gateway }) {
  const query = useQuery({ ...gatewayConnectionsQuery(id), refetchInterval: soonAgain })
  return (
    <Card title="Models">
      <Loaded query={query}>
        {(connections) =>
          connections.length === 0 ? (
            <Text size="sm" c="dimmed">
              Once its program has said for the first time what it serves, there is a connection for
              each of its providers, and its models are called by their names.
            </Text>
          ) : (
            <>
              <Text size="sm" c="dimmed">
                Called as <Code>provider/model</Code>, by who may use the{' '}
                <Anchor
                  inherit
                  underline="always"
                  renderRoot={(props) => <Link to="/connections" {...props} />}
                >
                  connections
                </Anchor>{' '}
                below.
              </Text>
              <ConnectionTable connections={connections} />
            </>
          )
        }
      </Loaded>
    </Card>
  )
}

const ConnectionTable = ({ connections }: { connections: readonly Connection[] }) => (
  <ListTable
    columns={[
      'Connection',
      { name: 'State', place: 'aside' },
      { name: 'Provider', isShort: true },
      { name: 'Models', isNumber: true },
    ]}
    minWidth={480}
  >
    {connections.map((one) => (
      <Table.Tr key={one.id}>
        <Table.Td fw={500} style={{ overflowWrap: 'anywhere' }}>
          {one.name}
        </Table.Td>
        <Table.Td>
          <Badge color={statusColors[one.status]} variant="light">
            {one.status}
          </Badge>
          {one.last_error && (
            <Text size="xs" c="red">
              {one.last_error}
            </Text>
          )}
        </Table.Td>
        <Table.Td>{one.provider}</Table.Td>
        <Table.Td ta="right">{count(one.model_count)}</Table.Td>
      </Table.Tr>
    ))}
  </ListTable>
)
