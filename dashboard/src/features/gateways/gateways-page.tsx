import { Anchor, Code, Menu, Table } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { GatewayOwner, useMayDelete } from './gateway-owner'
import { GatewayState } from './gateway-state'
import { ListPage } from '../../components/list-page'
import { ListTable } from '../../components/list-table'
import { LiveMoment } from '../../components/moment'
import { RowMenu } from '../../components/row-menu'
import { count } from '../../format/figures'
import { connectCommand, gatewaysQuery, type Gateway } from './queries'
import { pollSoon } from '../../api/polling'
import { DeleteGateway } from './delete-gateway'
import { GatewayToken } from './gateway-token'
import { NewGateway, type CreatedGateway } from './new-gateway'

export function GatewaysPage() {
  const queries = useQueryClient()
  const [created, setCreated] = useState<CreatedGateway>()
  const show = (gateway: CreatedGateway) => {
    setCreated(gateway)
    void queries.invalidateQueries(gatewaysQuery)
  }
  return (
    <>
      <ListPage
        title="Gateways"
        about="Serve models and tools from behind a firewall with tollgate connect."
        query={useQuery({ ...gatewaysQuery, refetchInterval: pollSoon })}
        empty={{ title: 'No gateways yet', text: <Explained /> }}
        add={{
          label: 'New gateway',
          form: (close) => (
            <NewGateway
              onCreated={(gateway) => {
                close()
                show(gateway)
              }}
              onCancel={close}
            />
          ),
        }}
      >
        {(gateways) => <GatewayTable gateways={gateways} />}
      </ListPage>
      {created && <GatewayToken created={created} onClose={() => setCreated(undefined)} />}
    </>
  )
}

const Explained = () => (
  <>
    A gateway runs on your own machine and connects to this service from behind your firewall, so
    that the machine's models and tools can be used without open ports, and your server keys stay on
    the machine. Create one to get its token, then run:
    <Code display="block" p="xs" mt="xs" style={{ overflowWrap: 'anywhere' }}>
      {connectCommand(window.location.origin)}
    </Code>
  </>
)

const GatewayTable = ({ gateways }: { gateways: readonly Gateway[] }) => (
  <ListTable
    columns={[
      'Name',
      { name: 'Status', position: 'wide' },
      'Providers',
      { name: 'Tools', isNumber: true },
      'Version',
      { name: 'Last seen', about: 'Last heartbeat of the gateway' },
      { name: 'Actions', isHidden: true },
    ]}
    minWidth={860}
  >
    {gateways.map((gateway) => (
      <GatewayRow key={gateway.id} gateway={gateway} />
    ))}
  </ListTable>
)

const GatewayRow = ({ gateway }: { gateway: Gateway }) => (
  <Table.Tr>
    <Table.Td maw={300}>
      <Anchor
        fw={500}
        size="sm"
        style={{ overflowWrap: 'anywhere' }}
        renderRoot={(props) => <Link to="/gateways/$id" params={{ id: gateway.id }} {...props} />}
      >
        {gateway.name}
      </Anchor>
      <GatewayOwner gateway={gateway} />
    </Table.Td>
    <Table.Td>
      <GatewayState gateway={gateway} />
    </Table.Td>
    <Table.Td style={{ overflowWrap: 'anywhere' }}>{gateway.providers.join(', ') || '–'}</Table.Td>
    <Table.Td ta="right">{count(gateway.tool_count)}</Table.Td>
    <Table.Td style={{ overflowWrap: 'anywhere' }}>{gateway.version ?? '–'}</Table.Td>
    <Table.Td style={{ whiteSpace: 'nowrap', fontVariantNumeric: 'tabular-nums' }}>
      <LiveMoment at={gateway.last_heartbeat_at} />
    </Table.Td>
    <Table.Td ta="right">
      <Actions gateway={gateway} />
    </Table.Td>
  </Table.Tr>
)

function Actions({ gateway }: { gateway: Gateway }) {
  const [isDeleting, setDeleting] = useState(false)
  if (!useMayDelete(gateway)) return undefined
  return (
    <>
      <RowMenu name={gateway.name}>
        <Menu.Item color="red" onClick={() => setDeleting(true)}>
          Delete
        </Menu.Item>
      </RowMenu>
      {isDeleting && <DeleteGateway gateway={gateway} onClose={() => setDeleting(false)} />}
    </>
  )
}
