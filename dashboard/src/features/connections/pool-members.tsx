import { ActionIcon, CloseButton, Group, Select, Stack, Text } from '@mantine/core'
import type { ReactNode } from 'react'
import type { Connection } from './queries'
import { maxMembers } from './pool-queries'

interface Props {
  /** The member ids in order. */
  ids: readonly string[]
  /** The eligible connections. */
  connections: readonly Connection[]
  error: ReactNode
  onChange: (ids: string[]) => void
}

/** The members of a pool and their order. */
export function PoolMembers({ ids, connections, error, onChange }: Props) {
  const others = connections.filter(({ id }) => !ids.includes(id))
  const nameOf = (id: string) => connections.find((one) => one.id === id)?.name ?? id
  return (
    <Stack gap="xs" component="section" aria-label="Members">
      {ids.length > 0 && (
        <Text size="sm" fw={500}>
          Connections, in order
        </Text>
      )}
      {ids.map((id, at) => (
        <Group key={id} justify="space-between" wrap="nowrap">
          <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
            {nameOf(id)}
          </Text>
          <Group gap={4} wrap="nowrap">
            <Mover label={`Move ${nameOf(id)} up`} ids={ids} at={at} by={-1} onMove={onChange} />
            <Mover label={`Move ${nameOf(id)} down`} ids={ids} at={at} by={1} onMove={onChange} />
            <CloseButton
              size="sm"
              aria-label={`Remove ${nameOf(id)}`}
              onClick={() => onChange(ids.filter((one) => one !== id))}
            />
          </Group>
        </Group>
      ))}
      {ids.length < maxMembers && (
        <Select
          label="Add a connection"
          placeholder={placeholderOf(connections.length, others.length)}
          disabled={others.length === 0}
          data={others.map(({ id, name }) => ({ value: id, label: name }))}
          value={null}
          error={error}
          onChange={(id) => id !== null && onChange([...ids, id])}
        />
      )}
    </Stack>
  )
}

function placeholderOf(all: number, others: number): string {
  if (all === 0) return 'Select a provider first'
  return others === 0 ? 'All connections are members' : 'Select a connection'
}

interface MoverProps {
  label: string
  ids: readonly string[]
  at: number
  by: 1 | -1
  onMove: (ids: string[]) => void
}

function Mover({ label, ids, at, by, onMove }: MoverProps) {
  const to = at + by
  const move = () => {
    const moved = ids.slice(at, at + 1)
    onMove(ids.toSpliced(at, 1).toSpliced(to, 0, ...moved))
  }
  return (
    <ActionIcon
      size="sm"
      variant="subtle"
      aria-label={label}
      disabled={to < 0 || to >= ids.length}
      onClick={move}
    >
      {by < 0 ? '↑' : '↓'}
    </ActionIcon>
  )
}
