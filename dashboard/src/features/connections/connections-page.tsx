import { Anchor, Badge, Group, Menu, Table, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { useState } from 'react'
import { ListTable } from '../../components/list-table'
import { api } from '../../api/client'
import { sessionQuery } from '../../api/session'
import { Confirm } from '../../components/confirm'
import { ClientCertificateWarning } from './certificates'
import { ConnectionTests, useConnectionTests } from './connection-tests'
import { ListPage } from '../../components/list-page'
import { RowMenu } from '../../components/row-menu'
import { useSorted } from '../../components/use-sorted'
import { connectionsQuery, mayChange, statusColors, type Connection } from './queries'
import { formatCount } from '../../format/figures'
import { poolsQuery } from './pool-queries'
import { EditConnection } from './edit-connection'
import { NewConnection } from './new-connection'
import { ReplaceKey } from './replace-key'

const about =
  'Your own provider keys (BYOK). The provider bills these requests; your credits are not used.'
const aboutOperators = 'Connections for all accounts are under Operator, Platform connections.'

export const ConnectionsPage = () => (
  <ListPage
    title="Connections"
    about={useQuery(sessionQuery).data?.user.isOperator ? `${about} ${aboutOperators}` : about}
    query={useQuery(connectionsQuery)}
    empty={{
      title: 'No connections yet',
      text: "Add a provider key to use it for requests to the provider's models. Keys are stored encrypted and never shown again.",
    }}
    add={{ label: 'Add connection', form: (close) => <NewConnection onClose={close} /> }}
  >
    {(connections) => <ConnectionTable connections={connections} />}
  </ListPage>
)

const columns = [
  { name: 'Name', sort: 'name' },
  { name: 'Provider', sort: 'provider' },
  'Key',
  { name: 'Status', sort: 'status' },
  'Limits',
  { name: 'Actions', isHidden: true },
] as const

const values = {
  name: ({ name }: Connection) => name,
  provider: ({ provider }: Connection) => provider,
  status: ({ status }: Connection) => status,
}

function ConnectionTable({ connections }: { connections: readonly Connection[] }) {
  const { sorted, sorting } = useSorted(connections, values, 'name')
  return (
    <ListTable columns={columns} sorting={sorting} minWidth={760}>
      {sorted.map((one) => (
        <Table.Tr key={one.id}>
          <Table.Td>
            <Group gap={6}>
              <Anchor
                fw={500}
                size="sm"
                renderRoot={(props) => (
                  <Link to="/connections/$id" params={{ id: one.id }} {...props} />
                )}
              >
                {one.name}
              </Anchor>
              {one.is_default && (
                <Badge variant="outline" size="sm">
                  default
                </Badge>
              )}
              {one.scope === 'organization' && (
                <Badge variant="outline" size="sm" color="gray">
                  organization
                </Badge>
              )}
              <ClientCertificateWarning network={one.network} />
            </Group>
            {one.endpoint_url && (
              <Text size="xs" c="dimmed">
                {one.endpoint_url}
              </Text>
            )}
          </Table.Td>
          <Table.Td>{one.provider}</Table.Td>
          <Table.Td ff="monospace" style={{ whiteSpace: 'nowrap' }}>
            {one.api_key_prefix ? `${one.api_key_prefix}…` : '–'}
          </Table.Td>
          <Table.Td>
            <Status connection={one} />
          </Table.Td>
          <Table.Td>
            <Limits connection={one} />
          </Table.Td>
          <Table.Td ta="right">{mayChange(one) && <Actions connection={one} />}</Table.Td>
        </Table.Tr>
      ))}
    </ListTable>
  )
}

const Status = ({ connection: one }: { connection: Connection }) => (
  <>
    <Badge color={statusColors[one.status]} variant="light">
      {one.status}
    </Badge>
    {one.last_error && (
      <Text size="xs" c="red" maw={260}>
        {one.last_error}
      </Text>
    )}
  </>
)

const Limits = ({ connection: { rate_limits: limits } }: { connection: Connection }) => {
  const texts = [
    limits?.rpm && `${formatCount(limits.rpm, 'request')}/min`,
    limits?.tpm && `${formatCount(limits.tpm, 'token')}/min`,
    limits?.images_per_minute && `${formatCount(limits.images_per_minute, 'image')}/min`,
    limits?.audio_seconds_per_minute &&
      `${formatCount(limits.audio_seconds_per_minute, 'second')} of sound/min`,
  ].filter(Boolean)
  return <Text size="sm">{texts.length > 0 ? texts.join(', ') : '–'}</Text>
}

function Actions({ connection }: { connection: Connection }) {
  const { id, name } = connection
  const queries = useQueryClient()
  const [dialog, setDialog] = useState<'change' | 'delete' | 'key'>()
  const { tests, start, close } = useConnectionTests()
  const closeDialog = () => setDialog(undefined)
  const remove = async () => {
    await api.DELETE('/api/connections/{id}', { params: { path: { id } } })
    await queries.invalidateQueries(connectionsQuery)
    await queries.invalidateQueries(poolsQuery)
  }
  return (
    <>
      <RowMenu name={name}>
        <Menu.Item onClick={() => void start([connection])}>Test</Menu.Item>
        <Menu.Item onClick={() => setDialog('change')}>Edit</Menu.Item>
        <Menu.Item onClick={() => setDialog('key')}>Replace key</Menu.Item>
        <Menu.Item color="red" onClick={() => setDialog('delete')}>
          Delete
        </Menu.Item>
      </RowMenu>
      <ConnectionTests tests={tests} onClose={close} />
      {dialog === 'change' && <EditConnection connection={connection} onClose={closeDialog} />}
      {dialog === 'key' && <ReplaceKey id={id} name={name} onClose={closeDialog} />}
      {dialog === 'delete' && (
        <Confirm
          question={`Delete ${name}?`}
          about="Requests use your other connections or the platform's. The key cannot be restored."
          label="Delete"
          onConfirm={remove}
          onClose={closeDialog}
        />
      )}
    </>
  )
}
