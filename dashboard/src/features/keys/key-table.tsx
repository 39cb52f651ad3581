import { Badge, Code, Group, Stack, Table, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import { ListTable } from '../../components/list-table'
import { Moment } from '../../components/moment'
import { useSorted } from '../../components/use-sorted'
import { KeySpending } from './key-spending'
import { limits, type Key } from './queries'
import { count } from '../../format/figures'

interface Props {
  keys: readonly Key[]
  /** The actions of a key. */
  actions: (key: Key) => ReactNode
}

const columns = [
  { name: 'Name', sort: 'name' },
  'Status',
  {
    name: 'Spent this month',
    about: 'In calendar months and days, UTC',
    position: 'wide',
    sort: 'spent',
  },
  'Limits',
  'Permissions',
  { name: 'Last used', sort: 'used' },
  { name: 'Created', sort: 'created' },
  { name: 'Actions', isHidden: true },
] as const

const timeOf = (at: string | null) => (at === null ? null : Date.parse(at))

const values = {
  name: ({ name }: Key) => name,
  spent: ({ usage }: Key) => usage.spend_this_month,
  used: ({ last_used_at: at }: Key) => timeOf(at),
  created: ({ created_at: at }: Key) => timeOf(at),
}

export function KeyTable({ keys, actions }: Props) {
  const { sorted, sorting } = useSorted(keys, values, 'name')
  return (
    <ListTable columns={columns} sorting={sorting} minWidth={960}>
      {sorted.map((one) => (
        <KeyRow key={one.id} one={one} actions={actions(one)} />
      ))}
    </ListTable>
  )
}

export const isExpired = ({ expires_at: end }: Key) => end !== null && new Date(end) <= new Date()

const KeyRow = ({ one, actions }: { one: Key; actions: ReactNode }) => (
  <Table.Tr>
    <Table.Td>
      <Text fw={500} style={{ overflowWrap: 'anywhere' }}>
        {one.name}
      </Text>
      <Code style={{ whiteSpace: 'nowrap' }}>{one.key_prefix}…</Code>
      {one.previous_secrets.map(({ key_prefix, expires_at }) => (
        <Text key={expires_at + key_prefix} size="xs" c="dimmed">
          {key_prefix}… until <Moment at={expires_at} />
        </Text>
      ))}
      {one.tags.length > 0 && (
        <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {one.tags.join(', ')}
        </Text>
      )}
    </Table.Td>
    <Table.Td>
      <KeyStatus one={one} />
    </Table.Td>
    <Table.Td>
      <KeySpending one={one} />
    </Table.Td>
    <Table.Td>
      <Limits one={one} />
    </Table.Td>
    <Table.Td>
      <Group gap={4} miw={110}>
        {one.permissions.map((permission) => (
          <Badge key={permission} variant="light" color={permission === 'admin' ? 'orange' : ''}>
            {permission}
          </Badge>
        ))}
      </Group>
    </Table.Td>
    <Table.Td>
      <Moment at={one.last_used_at} />
      {one.last_used_address !== null && (
        <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          {one.last_used_address}
        </Text>
      )}
    </Table.Td>
    <Table.Td>
      <Moment at={one.created_at} />
    </Table.Td>
    <Table.Td ta="right">{actions}</Table.Td>
  </Table.Tr>
)

/** An expired key is rejected, whether it is disabled or not. */
const stateOf = (one: Key) =>
  isExpired(one)
    ? (['expired', 'red', 'ended', one.expires_at] as const)
    : one.disabled
      ? (['disabled', 'gray', 'until', one.disabled_until] as const)
      : (['active', 'green', 'expires', one.expires_at] as const)

function KeyStatus({ one }: { one: Key }) {
  const [state, color, word, at] = stateOf(one)
  return (
    <Stack gap={2} align="flex-start" miw={90}>
      <Badge color={color} variant="light">
        {state}
      </Badge>
      {at !== null && (
        <Text size="xs" c="dimmed">
          {word} <Moment at={at} />
        </Text>
      )}
    </Stack>
  )
}

/** The lists of what a key may call, with the word for several of their entries. */
const accessLists = [
  ['allowed_models', 'models', false],
  ['denied_models', 'models', true],
  ['allowed_providers', 'providers', false],
  ['denied_providers', 'providers', true],
  ['allowed_collections', 'collections', false],
  ['denied_collections', 'collections', true],
  ['allowed_endpoints', 'endpoints', false],
  ['denied_endpoints', 'endpoints', true],
] as const

/** One entry by its name, several by their number. */
function listText(list: readonly string[], noun: string, isDenied: boolean): string {
  const text = list.length === 1 ? list[0] : `${count(list.length)} ${noun}`
  return isDenied ? `not ${text}` : `${text}`
}

function Limits({ one }: { one: Key }) {
  const set = limits.flatMap(([field, label]) => {
    const limit = one[field]
    // The spending limit has a column of its own.
    return limit === null || field === 'monthly_spend_limit' ? [] : [{ field, label, limit }]
  })
  const { allowed_addresses: addresses } = one
  const lists = accessLists.flatMap(([field, noun, isDenied]) => {
    const list = one[field]
    return list === null ? [] : [{ field, text: listText(list, noun, isDenied), list }]
  })
  if (set.length === 0 && lists.length === 0 && addresses === null)
    return <Text size="sm">account limits</Text>
  return (
    <Stack gap={0}>
      {set.map(({ field, label, limit }) => (
        <Text key={field} size="sm">
          {`${count(limit)} ${label.toLowerCase()}`}
        </Text>
      ))}
      {lists.map(({ field, text, list }) => (
        <Text key={field} size="sm" title={list.join(', ')} style={{ overflowWrap: 'anywhere' }}>
          {text}
        </Text>
      ))}
      {addresses !== null && (
        <Text size="sm" title={addresses.join(', ')} style={{ overflowWrap: 'anywhere' }}>
          {addresses.length === 1
            ? `from ${addresses[0]}`
            : `from ${count(addresses.length)} addresses`}
        </Text>
      )}
    </Stack>
  )
}
