import { Button, Group, Switch, Table, Text } from '@mantine/core'
import { useQueryClient } from '@tanstack/react-query'
import { useContext, useState } from 'react'
import { destinationsKey, endpointsOf, kindNames, type AuditDestination } from './queries'
import { Confirm } from '../../components/confirm'
import { ListTable } from '../../components/list-table'
import { Problem } from '../../components/problem'
import { ReadOnlyForms } from '../../components/read-only-forms'
import { useSubmit } from '../../components/use-submit'
import { When } from '../../components/when'
import { count } from '../../format/figures'

interface Props {
  destinations: readonly AuditDestination[]
  organizationId: string | undefined
  /** Receives the key of a webhook after its rotation. */
  onSecret: (given: { name: string; secret: string | null }) => void
}

/** The destinations of an audit log, with what waits for each. */
export function AuditDestinationTable({ destinations, organizationId, onSecret }: Props) {
  const queries = useQueryClient()
  const [deletable, setDeletable] = useState<AuditDestination>()
  const endpoints = endpointsOf(organizationId)
  const refresh = () => queries.invalidateQueries({ queryKey: destinationsKey })
  const changing = useSubmit(async (change: () => Promise<unknown>) => {
    await change()
    await refresh()
  })
  return (
    <>
      <Problem error={changing.error} />
      <ListTable
        columns={[
          'Name',
          { name: 'Kind', isShort: true },
          { name: 'Waiting', position: 'wide' },
          { name: 'Enabled', position: 'aside' },
          { name: 'Actions', position: 'wide' },
        ]}
        minWidth={640}
      >
        {destinations.map((one) => (
          <DestinationRow
            key={one.id}
            destination={one}
            onEnable={(enabled) =>
              void changing.submit(() => endpoints.change(one.id, { enabled }))
            }
            onRotate={() =>
              void changing.submit(async () => onSecret(await endpoints.rotate(one.id)))
            }
            onDelete={() => setDeletable(one)}
          />
        ))}
      </ListTable>
      {deletable && (
        <Confirm
          question={`Delete ${deletable.name}?`}
          about="Entries that wait for it are not sent."
          label="Delete"
          onConfirm={async () => {
            await endpoints.delete(deletable.id)
            await refresh()
          }}
          onClose={() => setDeletable(undefined)}
        />
      )}
    </>
  )
}

interface RowProps {
  destination: AuditDestination
  onEnable: (enabled: boolean) => void
  onRotate: () => void
  onDelete: () => void
}

const DestinationRow = ({ destination: one, onEnable, onRotate, onDelete }: RowProps) => (
  <Table.Tr>
    <Table.Td style={{ overflowWrap: 'anywhere' }}>
      <Text size="sm">{one.name}</Text>
      <Text size="xs" c="dimmed">
        {one.url}
      </Text>
      {one.failing_since !== null && (
        <Text size="xs" c="red.8">
          {one.last_error}
        </Text>
      )}
    </Table.Td>
    <Table.Td>{kindNames[one.kind]}</Table.Td>
    <Table.Td>
      {count(one.waiting)}
      {one.oldest_waiting_at !== null && (
        <Text size="xs" c="dimmed">
          since <When at={one.oldest_waiting_at} />
        </Text>
      )}
    </Table.Td>
    <Table.Td>
      <Switch
        checked={one.enabled}
        onChange={(event) => onEnable(event.currentTarget.checked)}
        aria-label={`Enable ${one.name}`}
        disabled={useContext(ReadOnlyForms)}
      />
    </Table.Td>
    <Table.Td>
      <RowButtons {...{ destination: one, onRotate, onDelete }} />
    </Table.Td>
  </Table.Tr>
)

function RowButtons({ destination: one, onRotate, onDelete }: Omit<RowProps, 'onEnable'>) {
  if (useContext(ReadOnlyForms)) return null
  return (
    <Group gap="xs">
      {one.kind === 'webhook' && (
        <Button
          size="compact-sm"
          variant="default"
          aria-label={`Rotate the key of ${one.name}`}
          onClick={onRotate}
        >
          Rotate key
        </Button>
      )}
      <Button
        size="compact-sm"
        variant="light"
        color="red"
        aria-label={`Delete ${one.name}`}
        onClick={onDelete}
      >
        Delete
      </Button>
    </Group>
  )
}
