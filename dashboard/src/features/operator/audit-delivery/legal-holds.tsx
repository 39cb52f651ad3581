import { Badge, Button, Group, Modal, Table, Text, Textarea, TextInput } from '@mantine/core'
import { useForm } from '@mantine/form'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { legalHoldsQuery, type LegalHold } from './queries'
import { api } from '../../../api/client'
import { allRows } from '../../../api/paging'
import { Card } from '../../../components/card'
import { Confirm } from '../../../components/confirm'
import { ListTable } from '../../../components/list-table'
import { Permitted } from '../../../components/permitted'
import { ResourceForm } from '../../../components/resource-form'
import { ResourceList } from '../../../components/resource-list'
import { When } from '../../../components/when'

/** The legal holds on accounts and organizations. */
export function LegalHolds() {
  const query = useQuery(legalHoldsQuery)
  const queries = useQueryClient()
  const refresh = () => queries.invalidateQueries(legalHoldsQuery)
  const [isCreating, setCreating] = useState(false)
  const [ending, setEnding] = useState<LegalHold>()
  return (
    <Card title="Legal holds">
      <Group justify="space-between" gap="sm">
        <Text size="sm" c="dimmed">
          Audit logs, request logs and bodies of an account or organization on hold stay beyond
          their retention, and it cannot be deleted.
        </Text>
        <Permitted to="POST /api/admin/legal-holds">
          <Button variant="default" onClick={() => setCreating(true)}>
            New legal hold
          </Button>
        </Permitted>
      </Group>
      <ResourceList
        query={query}
        rows={(items) => allRows(items)}
        plural="legal holds"
        empty="No legal holds yet."
      >
        {(holds) => <HoldTable holds={holds} onEnd={setEnding} />}
      </ResourceList>
      <Modal opened={isCreating} onClose={() => setCreating(false)} title="New legal hold">
        <NewLegalHold
          onClose={async () => {
            setCreating(false)
            await refresh()
          }}
        />
      </Modal>
      {ending && (
        <Confirm
          question={`End the legal hold on ${ending.subject_name ?? ending.subject_id}?`}
          about="What has outlived its retention is deleted within an hour."
          label="End hold"
          onConfirm={async () => {
            await api.POST('/api/admin/legal-holds/{id}/end', {
              params: { path: { id: ending.id } },
            })
            await refresh()
          }}
          onClose={() => setEnding(undefined)}
        />
      )}
    </Card>
  )
}

interface TableProps {
  holds: readonly LegalHold[]
  onEnd: (hold: LegalHold) => void
}

const HoldTable = ({ holds, onEnd }: TableProps) => (
  <ListTable
    columns={[
      'Subject',
      { name: 'Reason', position: 'wide' },
      'Set',
      { name: 'Status', position: 'aside' },
    ]}
    minWidth={640}
  >
    {holds.map((hold) => (
      <Table.Tr key={hold.id}>
        <Table.Td style={{ overflowWrap: 'anywhere' }}>
          <Text size="sm">{hold.subject_name ?? hold.subject_id}</Text>
          {hold.subject_name !== null && (
            <Text size="xs" c="dimmed">
              {hold.subject_id}
            </Text>
          )}
        </Table.Td>
        <Table.Td style={{ overflowWrap: 'anywhere' }}>{hold.reason}</Table.Td>
        <Table.Td>
          <When at={hold.created_at} />
        </Table.Td>
        <Table.Td>
          {hold.ended_at === null ? (
            <Permitted to="POST /api/admin/legal-holds/{id}/end">
              <Button
                size="compact-sm"
                variant="light"
                aria-label={`End the hold on ${hold.subject_name ?? hold.subject_id}`}
                onClick={() => onEnd(hold)}
              >
                End
              </Button>
            </Permitted>
          ) : (
            <Badge variant="light" color="gray">
              ended
            </Badge>
          )}
        </Table.Td>
      </Table.Tr>
    ))}
  </ListTable>
)

function NewLegalHold({ onClose }: { onClose: () => Promise<void> }) {
  const form = useForm({ initialValues: { subject_id: '', reason: '' } })
  const save = async (body: typeof form.values) => {
    await api.POST('/api/admin/legal-holds', { body })
    await onClose()
  }
  return (
    <ResourceForm form={form} save={save} label="Set hold" onCancel={() => void onClose()}>
      <TextInput
        label="Account or organization"
        description="Its ID"
        placeholder="user_… or org_…"
        required
        maxLength={100}
        data-autofocus
        {...form.getInputProps('subject_id')}
      />
      <Textarea
        label="Reason"
        description="Visible to operators only"
        required
        maxLength={500}
        autosize
        minRows={2}
        {...form.getInputProps('reason')}
      />
    </ResourceForm>
  )
}
