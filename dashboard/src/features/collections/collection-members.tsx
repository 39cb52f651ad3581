import {
  ActionIcon,
  Button,
  CloseButton,
  Group,
  NumberInput,
  Stack,
  Switch,
  Table,
  Text,
} from '@mantine/core'
import { useState } from 'react'
import { added, moved, type Member } from './queries'
import { ModelInput } from '../models/model-input'

const maxMembers = 200

interface Props {
  members: readonly Member[]
  /** Whether weights apply. */
  isWeighted: boolean
  isReadOnly: boolean
  onChange: (members: Member[]) => void
}

export function CollectionMembers(props: Props) {
  const { members, isReadOnly, onChange } = props
  return (
    <Stack gap="xs" component="section" aria-label="Models">
      <Text size="sm" fw={500}>
        Models
      </Text>
      {members.length === 0 ? (
        <Text size="sm" c="dimmed">
          No models yet. Requests are rejected until you add one.
        </Text>
      ) : (
        <Table verticalSpacing={6}>
          <Table.Tbody>
            {members.map((member, at) => (
              <MemberRow key={member.model_id} {...props} member={member} at={at} />
            ))}
          </Table.Tbody>
        </Table>
      )}
      {!isReadOnly && members.length < maxMembers && (
        <Adding members={members} onChange={onChange} />
      )}
    </Stack>
  )
}

function MemberRow({ member, at, ...props }: Props & { member: Member; at: number }) {
  const { members, isWeighted, isReadOnly, onChange } = props
  const { model_id: id, weight, enabled } = member
  const change = (fields: Partial<Member>) =>
    onChange(members.map((one, place) => (place === at ? { ...one, ...fields } : one)))
  return (
    <Table.Tr>
      <Table.Td style={{ overflowWrap: 'anywhere' }}>
        <Text size="sm" ff="monospace" td={enabled ? '' : 'line-through'}>
          {id}
        </Text>
      </Table.Td>
      {isWeighted && (
        <Table.Td w={96}>
          <NumberInput
            size="xs"
            aria-label={`Weight of ${id}`}
            min={1}
            max={1000}
            allowDecimal={false}
            disabled={isReadOnly}
            value={weight}
            onChange={(value) => change({ weight: Number(value) || 1 })}
          />
        </Table.Td>
      )}
      {!isReadOnly && (
        <Table.Td>
          <Group gap={4} justify="flex-end" wrap="nowrap">
            <Switch
              size="xs"
              aria-label={`Enable ${id}`}
              checked={enabled}
              onChange={(event) => change({ enabled: event.currentTarget.checked })}
            />
            <Mover label={`Move ${id} up`} sign="↑" {...{ members, onChange }} from={at} by={-1} />
            <Mover label={`Move ${id} down`} sign="↓" {...{ members, onChange }} from={at} by={1} />
            <CloseButton
              size="sm"
              aria-label={`Remove ${id}`}
              onClick={() => onChange(members.filter((one) => one !== member))}
            />
          </Group>
        </Table.Td>
      )}
    </Table.Tr>
  )
}

interface Move extends Pick<Props, 'members' | 'onChange'> {
  label: string
  sign: string
  from: number
  by: 1 | -1
}

function Mover({ label, sign, members, onChange, from, by }: Move) {
  const to = from + by
  return (
    <ActionIcon
      size="sm"
      variant="subtle"
      aria-label={label}
      disabled={to < 0 || to >= members.length}
      onClick={() => onChange(moved(members, from, to))}
    >
      {sign}
    </ActionIcon>
  )
}

function Adding({ members, onChange }: Pick<Props, 'members' | 'onChange'>) {
  const [typed, setTyped] = useState('')
  const id = typed.trim()
  const isMember = members.some((member) => member.model_id === id)
  const add = () => {
    onChange(added(members, id))
    setTyped('')
  }
  return (
    <Group gap="xs" align="flex-end" wrap="nowrap">
      <ModelInput
        label="Add a model"
        flex={1}
        value={typed}
        onChange={setTyped}
        error={isMember && 'This model is already in the collection.'}
        // Enter accepts the suggestion; it must not submit the form.
        onKeyDown={(event) => event.key === 'Enter' && event.preventDefault()}
      />
      <Button variant="default" disabled={id === '' || isMember} onClick={add}>
        Add model
      </Button>
    </Group>
  )
}
