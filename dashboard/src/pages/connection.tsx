import { Anchor, Badge, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Card } from '../components/card'
import { Facts } from '../components/facts'
import { useOwnerName } from '../components/gateway-owner'
import { Loaded } from '../components/loaded'
import { Page } from '../components/page'
import { connectionQuery } from '../connection-models'
import { billingModes, statusColors, type Connection } from '../connections'
import { ConnectionModels } from './connection-models'

const route = getRouteApi('/home/connections/$id')

/** One connection: whose it is, and what may be called by it at which price. */
export function ConnectionPage() {
  const { id } = route.useParams()
  const query = useQuery(connectionQuery(id))
  return (
    <Page
      title={query.data?.name ?? 'Connection'}
      back={
        <Anchor size="sm" renderRoot={(props) => <Link to="/connections" {...props} />}>
          All connections
        </Anchor>
      }
    >
      <Loaded query={query}>{(connection) => <Parts connection={connection} />}</Loaded>
    </Page>
  )
}

const Parts = ({ connection }: { connection: Connection }) => (
  <>
    <Card title="The connection">
      <Facts facts={factsOf(connection)} />
    </Card>
    <Card title="Models">
      <Text size="sm" c="dimmed">
        The operator says what models of the catalogue cost; what the others cost, whoever runs the
        connection. Without a price they are free.
      </Text>
      <ConnectionModels connection={connection} />
    </Card>
  </>
)

const factsOf = (one: Connection) =>
  [
    [
      'State',
      <Badge key="state" color={statusColors[one.status]} variant="light">
        {one.status}
      </Badge>,
    ],
    ['Provider', one.provider],
    ['Whose', <Whose key="whose" connection={one} />],
    ...(one.billing_mode === null ? [] : ([['Who pays', payer(one)]] as const)),
    ['Called by', <Caller key="caller" connection={one} />],
    ['Id', one.id],
  ] as const

const Whose = ({ connection }: { connection: Connection }) => useOwnerName(connection)

const payer = ({ billing_mode: mode }: Connection) =>
  billingModes.find(({ value }) => value === mode)?.label

function Caller({
  connection: { gateway_type: type, gateway_id: id },
}: {
  connection: Connection
}) {
  if (type === 2) return 'this service'
  if (id === null) return 'a gateway that was deleted'
  return (
    <Anchor
      inherit
      underline="always"
      renderRoot={(props) => <Link to="/gateways/$id" params={{ id }} {...props} />}
    >
      its gateway
    </Anchor>
  )
}
