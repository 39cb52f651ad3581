import { Badge, Button, Group, Menu, Table, Text } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api'
import { connectionsQuery, type Connection } from '../connections'
import { Confirm } from '../components/confirm'
import { ListPage } from '../components/list-page'
import { NewConnection } from './new-connection'
import { ReplaceKey } from './replace-key'

const colors = { active: 'green', inactive: 'gray', error: 'red' } as const

export const ConnectionsPage = () => (
  <ListPage
    title="Connections"
    about="Your own keys at providers. What they serve is billed by the provider, not from your credit."
    query={useQuery(connectionsQuery)}
    empty={{
      title: 'No provider keys of your own yet',
      text: 'Add a key that you have at a provider: calls for its models then go out with it. The key is kept encrypted and never shown again.',
    }}
    add={{ label: 'Add connection', form: (close) => <NewConnection onDone={close} /> }}
  >
    {(connections) => <ConnectionTable connections={connections} />}
  </ListPage>
)

const ConnectionTable = ({ connections }: { connections: readonly Connection[] }) => (
  <Table.ScrollContainer minWidth={640}>
    <Table verticalSpacing="sm">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Name</Table.Th>
          <Table.Th>Provider</Table.Th>
          <Table.Th>Key</Table.Th>
          <Table.Th>Status</Table.Th>
          <Table.Th aria-label="Actions" />
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {connections.map((one) => (
          <Table.Tr key={one.id}>
            <Table.Td>
              <Group gap={6}>
                <Text fw={500}>{one.name}</Text>
                {one.is_default && (
                  <Badge variant="outline" size="sm">
                    default
                  </Badge>
                )}
              </Group>
              {one.endpoint_url && (
                <Text size="xs" c="dimmed">
                  {one.endpoint_url}
                </Text>
              )}
            </Table.Td>
            <Table.Td>{one.provider}</Table.Td>
            <Table.Td ff="monospace">
              {one.api_key_prefix ? `${one.api_key_prefix}…` : '–'}
            </Table.Td>
            <Table.Td>
              <Badge color={colors[one.status]} variant="light">
                {one.status}
              </Badge>
              {one.last_error && (
                <Text size="xs" c="red" maw={260}>
                  {one.last_error}
                </Text>
              )}
            </Table.Td>
            <Table.Td ta="right">
              <Actions connection={one} />
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  </Table.ScrollContainer>
)

function Actions({ connection: { id, name } }: { connection: Connection }) {
  const queries = useQueryClient()
  const [asked, setAsked] = useState<'delete' | 'key'>()
  const [isTesting, setTesting] = useState(false)
  const refresh = () => queries.invalidateQueries(connectionsQuery)
  const param = { id }
  const test = async () => {
    setTesting(true)
    try {
      const result = await (await api.connections[':id'].test.$post({ param })).json()
      const color = result.success ? 'green' : 'red'
      notifications.show({ title: name, message: result.message, color })
      await refresh()
    } catch (thrown) {
      const message = thrown instanceof Error ? thrown.message : String(thrown)
      notifications.show({ title: name, message, color: 'red' })
    } finally {
      setTesting(false)
    }
  }
  const remove = async () => {
    await api.connections[':id'].$delete({ param })
    await refresh()
  }
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button
            size="xs"
            variant="default"
            loading={isTesting}
            aria-label={`Actions for ${name}`}
          >
            Actions
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          <Menu.Item onClick={() => void test()}>Test</Menu.Item>
          <Menu.Item onClick={() => setAsked('key')}>Replace key</Menu.Item>
          <Menu.Item color="red" onClick={() => setAsked('delete')}>
            Delete
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {asked === 'key' && <ReplaceKey id={id} name={name} onDone={() => setAsked(undefined)} />}
      {asked === 'delete' && (
        <Confirm
          question={`Delete ${name}?`}
          about="Calls go to your other connections, or to the platform's. The key cannot be brought back."
          label="Delete"
          onConfirm={remove}
          onClose={() => setAsked(undefined)}
        />
      )}
    </>
  )
}
