import { Badge, Button, Code, Group, Menu, Stack, Table, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { api } from '../api'
import { Confirm } from '../components/confirm'
import { HiddenHeader } from '../components/hidden-header'
import { ListPage } from '../components/list-page'
import { Moment } from '../components/moment'
import { countOf, usdOf } from '../numbers'
import { keysQuery, limits, type Key } from '../keys'
import { KeySecret } from './key-secret'
import { NewKey } from './new-key'

interface Secret {
  name: string
  key: string
}

export function KeysPage() {
  const [secret, setSecret] = useState<Secret>()
  return (
    <>
      <ListPage
        title="API keys"
        about="What your programs sign in with. A key is shown once, when it is made."
        query={useQuery(keysQuery)}
        empty={{
          title: 'No keys yet',
          text: 'A program sends its key with every call. Make one for each, so that you can take it back from one alone.',
        }}
        add={{
          label: 'New key',
          form: (close) => (
            <NewKey
              onMade={(made) => {
                close()
                setSecret(made)
              }}
              onCancel={close}
            />
          ),
        }}
      >
        {(keys) => <KeyTable keys={keys} onSecret={setSecret} />}
      </ListPage>
      {secret && (
        <KeySecret name={secret.name} secret={secret.key} onDone={() => setSecret(undefined)} />
      )}
    </>
  )
}

interface Shown {
  keys: readonly Key[]
  onSecret: (secret: Secret) => void
}

const KeyTable = ({ keys, onSecret }: Shown) => (
  <Table.ScrollContainer minWidth={820}>
    <Table verticalSpacing="sm">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>Name</Table.Th>
          <Table.Th>Permissions</Table.Th>
          <Table.Th>Limits</Table.Th>
          <Table.Th>Last used</Table.Th>
          <Table.Th>Expires</Table.Th>
          <Table.Th>Made</Table.Th>
          <HiddenHeader label="Actions" />
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {keys.map((one) => (
          <KeyRow key={one.id} one={one} onSecret={onSecret} />
        ))}
      </Table.Tbody>
    </Table>
  </Table.ScrollContainer>
)

const isExpired = ({ expires_at: end }: Key) => end !== null && new Date(end) <= new Date()

const KeyRow = ({ one, onSecret }: { one: Key; onSecret: Shown['onSecret'] }) => (
  <Table.Tr>
    <Table.Td>
      <Text fw={500} style={{ overflowWrap: 'anywhere' }}>
        {one.name}
      </Text>
      <Code>{one.key_prefix}…</Code>
    </Table.Td>
    <Table.Td>
      <Group gap={4}>
        {one.permissions.map((permission) => (
          <Badge key={permission} variant="light" color={permission === 'admin' ? 'orange' : ''}>
            {permission}
          </Badge>
        ))}
      </Group>
    </Table.Td>
    <Table.Td>
      <Limits one={one} />
    </Table.Td>
    <Table.Td>
      <Moment at={one.last_used_at} />
    </Table.Td>
    <Table.Td>
      {isExpired(one) && <Badge color="red">expired</Badge>}
      <div>
        <Moment at={one.expires_at} />
      </div>
    </Table.Td>
    <Table.Td>
      <Moment at={one.created_at} />
    </Table.Td>
    <Table.Td ta="right">
      <Actions one={one} onSecret={onSecret} />
    </Table.Td>
  </Table.Tr>
)

function Limits({ one }: { one: Key }) {
  const set = limits.flatMap(([field, label]) => {
    const limit = one[field]
    return limit === null ? [] : [{ field, label, limit }]
  })
  if (set.length === 0) return <Text size="sm">as the account</Text>
  return (
    <Stack gap={0}>
      {set.map(({ field, label, limit }) => (
        <Text key={field} size="sm">
          {field === 'monthly_spend_limit'
            ? `${usdOf(limit)} per month`
            : `${countOf(limit)} ${label.toLowerCase()}`}
        </Text>
      ))}
    </Stack>
  )
}

function Actions({ one, onSecret }: { one: Key; onSecret: Shown['onSecret'] }) {
  const { id, name } = one
  const queries = useQueryClient()
  const [asked, setAsked] = useState<'delete' | 'rotate'>()
  const done = () => setAsked(undefined)
  const param = { id }
  const remove = async () => {
    await api.account.keys[':id'].$delete({ param })
    await queries.invalidateQueries(keysQuery)
  }
  const rotate = async () => {
    const { key } = await (await api.account.keys[':id'].rotate.$post({ param })).json()
    // Shown whatever becomes of the list: it is nowhere else.
    onSecret({ name, key })
    void queries.invalidateQueries(keysQuery)
  }
  return (
    <>
      <Menu position="bottom-end">
        <Menu.Target>
          <Button size="xs" variant="default" aria-label={`Actions for ${name}`}>
            Actions
          </Button>
        </Menu.Target>
        <Menu.Dropdown>
          {!isExpired(one) && <Menu.Item onClick={() => setAsked('rotate')}>Rotate</Menu.Item>}
          <Menu.Item color="red" onClick={() => setAsked('delete')}>
            Delete
          </Menu.Item>
        </Menu.Dropdown>
      </Menu>
      {asked === 'rotate' && (
        <Confirm
          question={`Rotate ${name}?`}
          about="The key gets a new secret, and the old one stops at once. Permissions, limits and expiry stay."
          label="Rotate"
          onConfirm={rotate}
          onClose={done}
        />
      )}
      {asked === 'delete' && (
        <Confirm
          question={`Delete ${name}?`}
          about="Programs that use this key are refused at once. It cannot be brought back."
          label="Delete"
          onConfirm={remove}
          onClose={done}
        />
      )}
    </>
  )
}
