import { Anchor, Badge, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Card } from '../../components/card'
import { Facts } from '../../components/facts'
import { useOwnerName } from '../gateways/gateway-owner'
import { Loaded } from '../../components/loaded'
import { Page } from '../../components/page'
import { CertificateList } from './certificates'
import { connectionQuery } from './model-queries'
import { billingModes, statusColors, type Connection } from './queries'
import { ConnectionModels } from './connection-models'

const route = getRouteApi('/home/connections/$id')

/** One connection: owner, models and prices. */
export function ConnectionPage() {
  const { id } = route.useParams()
  const query = useQuery(connectionQuery(id))
  return (
    <Page
      title={query.data?.name ?? 'Connection'}
      list="Connections"
      back={
        <Anchor size="sm" renderRoot={(props) => <Link to="/connections" {...props} />}>
          All connections
        </Anchor>
      }
    >
      <Loaded query={query} what="connection">
        {(connection) => <ConnectionSections connection={connection} />}
      </Loaded>
    </Page>
  )
}

const ConnectionSections = ({ connection }: { connection: Connection }) => (
  <>
    <Card title="Details">
      <Facts facts={factsOf(connection)} />
    </Card>
    <Card title="Models">
      <Text size="sm" c="dimmed">
        The operator sets the prices of catalog models; the connection's manager sets the others.
        Models without a price are free.
      </Text>
      <ConnectionModels connection={connection} />
    </Card>
  </>
)

const factsOf = (one: Connection) =>
  [
    [
      'Status',
      <Badge key="state" color={statusColors[one.status]} variant="light">
        {one.status}
      </Badge>,
    ],
    ['Provider', one.provider],
    ['Owner', <ConnectionOwner key="whose" connection={one} />],
    ...(one.billing_mode === null ? [] : ([['Billed to', payer(one)]] as const)),
    ['Called from', <Caller key="caller" connection={one} />],
    ...networkFacts(one),
    ['ID', one.id],
  ] as const

/** Certificates and headers, as far as the connection has some. */
function networkFacts({ network }: Connection) {
  const authorities = network?.certificate_authorities ?? []
  const clients = network?.client_certificate ? [network.client_certificate] : []
  const headers = network?.headers ?? []
  const facts = [
    [
      'Certificate authorities',
      authorities,
      <CertificateList key="ca" certificates={authorities} />,
    ],
    ['Client certificate', clients, <CertificateList key="client" certificates={clients} />],
    ['Request headers', headers, headers.join(', ')],
  ] as const
  return facts.flatMap(([name, entries, text]) =>
    entries.length > 0 ? [[name, text] as const] : [],
  )
}

const ConnectionOwner = ({ connection }: { connection: Connection }) => useOwnerName(connection)

const payer = ({ billing_mode: mode }: Connection) =>
  billingModes.find(({ value }) => value === mode)?.label

function Caller({
  connection: { gateway_type: type, gateway_id: id },
}: {
  connection: Connection
}) {
  if (type === 2) return 'Tollgate'
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
