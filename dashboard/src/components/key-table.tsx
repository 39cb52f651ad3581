import { Badge, Code, Group, Stack, Table, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { ListTable } from './list-table'
import { Moment } from './moment'
import { limits, type Key } from '../keys'
import { count, exactUsd } from '../figures'

interface Props {
  keys: readonly Key[]
  /** The actions of a key. */
  actions: (key: Key) => ReactNode
}

export const KeyTable = ({ keys, actions }: Props) => (
  <ListTable
    columns={[
      'Name',
      'Permissions',
      'Limits',
      'Last used',
      'Expires',
      'Created',
      { name: 'Actions', isHidden: true },
    ]}
    minWidth={820}
  >
    {keys.map((one) => (
      <KeyRow key={one.id} one={one} actions={actions(one)} />
    ))}
  </ListTable>
)

export const isExpired = ({ expires_at: end }: Key) => end !== null && new Date(end) <= new Date()

const KeyRow = ({ one, actions }: { one: Key; actions: ReactNode }) => (
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
    <Table.Td ta="right">{actions}</Table.Td>
  </Table.Tr>
)

function Limits({ one }: { one: Key }) {
  const set = limits.flatMap(([field, label]) => {
    const limit = one[field]
    return limit === null ? [] : [{ field, label, limit }]
  })
  if (set.length === 0) return <Text size="sm">account limits</Text>
  return (
    <Stack gap={0}>
      {set.map(({ field, label, limit }) => (
        <Text key={field} size="sm">
          {field === 'monthly_spend_limit'
            ? `${exactUsd(limit)} per month`
            : `${count(limit)} ${label.toLowerCase()}`}
        </Text>
      ))}
    </Stack>
  )
}
