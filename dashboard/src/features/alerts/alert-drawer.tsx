import { api, bodyOf } from '../../api/client'
import { Badge, Button, Group, Modal, Stack, Table, Text, Title } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { ListTable } from '../../components/list-table'
import { alertQuery, conditionOf, kinds, formatValue, type Alert } from './queries'
import { Confirm } from '../../components/confirm'
import { Loaded } from '../../components/loaded'
import { Problem } from '../../components/problem'
import { FailureScope } from '../../components/query-failure'
import { When } from '../../components/when'
import { formatCount } from '../../format/figures'
import { useSubmit } from '../../components/use-submit'
import { AlertForm } from './alert-form'
import { SidePanel } from '../../components/side-panel'

/** One alert with its settings and its history. */
export function AlertDrawer({ id, onClose }: { id: string; onClose: () => void }) {
  const query = useQuery(alertQuery(id))
  return (
    <SidePanel onClose={onClose} size="lg" title="Alert">
      <FailureScope>
        <Loaded query={query} what="alert">
          {(alert) => (
            <Stack gap="lg">
              <div>
                <Group gap="xs">
                  <Title order={3} style={{ overflowWrap: 'anywhere' }}>
                    {alert.name}
                  </Title>
                  <Badge color={alert.enabled ? 'green' : 'gray'} variant="light">
                    {alert.enabled ? 'on' : 'off'}
                  </Badge>
                </Group>
                <Text fw={500}>{conditionOf(alert)}</Text>
                <Text size="sm" c="dimmed">
                  {kinds[alert.type].about}
                </Text>
                {alert.description && (
                  <Text size="sm" mt="xs" style={{ whiteSpace: 'pre-line' }}>
                    {alert.description}
                  </Text>
                )}
              </div>
              <Deeds alert={alert} onDeleted={onClose} />
              <History alert={alert} />
            </Stack>
          )}
        </Loaded>
      </FailureScope>
    </SidePanel>
  )
}

function Deeds({ alert, onDeleted }: { alert: Alert; onDeleted: () => void }) {
  const queries = useQueryClient()
  const [dialog, setDialog] = useState<'change' | 'delete'>()
  const param = { alert_id: alert.id }
  const testing = useSubmit(async () => {
    const { success, message } = await bodyOf(
      api.POST('/api/account/alerts/{alert_id}/test', { params: { path: param } }),
    )
    notifications.show({ title: alert.name, message, color: success ? 'green' : 'red' })
    await queries.invalidateQueries({ queryKey: ['inbox'] })
  })
  const remove = async () => {
    await api.DELETE('/api/account/alerts/{alert_id}', { params: { path: param } })
    onDeleted()
    await queries.invalidateQueries({ queryKey: ['alerts', 'list'] })
  }
  return (
    <>
      <Group gap="xs">
        <Button
          variant="default"
          loading={testing.isBusy}
          onClick={() => void testing.submit(undefined)}
        >
          Send test
        </Button>
        <Button variant="default" onClick={() => setDialog('change')}>
          Edit
        </Button>
        <Button variant="subtle" color="red" onClick={() => setDialog('delete')}>
          Delete
        </Button>
      </Group>
      <Problem error={testing.error} />
      <Modal
        opened={dialog === 'change'}
        onClose={() => setDialog(undefined)}
        title={`Edit ${alert.name}`}
        size="lg"
      >
        <AlertForm alert={alert} onClose={() => setDialog(undefined)} />
      </Modal>
      {dialog === 'delete' && (
        <Confirm
          question={`Delete ${alert.name}?`}
          about="Its history is deleted as well. To keep the history, disable the alert."
          label="Delete"
          onConfirm={remove}
          onClose={() => setDialog(undefined)}
        />
      )}
    </>
  )
}

function History({ alert }: { alert: Alert }) {
  const queries = useQueryClient()
  const marking = useSubmit(async (triggerId: string) => {
    const param = { alert_id: alert.id, trigger_id: triggerId }
    await api.POST('/api/account/alerts/{alert_id}/triggers/{trigger_id}/acknowledge', {
      params: { path: param },
    })
    await queries.invalidateQueries({ queryKey: ['alerts', 'one', alert.id] })
  })
  const { recent_triggers: triggers } = alert
  return (
    <section>
      <Title order={4} mb={4}>
        History
      </Title>
      <Text size="sm" c="dimmed">
        {triggers.length === 0
          ? 'Not triggered yet.'
          : `Triggered ${formatCount(alert.trigger_count, 'time')}. The last ten are shown.`}
      </Text>
      <Problem error={marking.error} />
      {triggers.length > 0 && (
        <ListTable
          columns={['Time', 'Value', { name: 'Acknowledged', isHidden: true }]}
          minWidth={320}
        >
          {triggers.map((trigger) => (
            <TriggerRow
              key={trigger.id}
              trigger={trigger}
              type={alert.type}
              isBusy={marking.isBusy}
              onRead={() => void marking.submit(trigger.id)}
            />
          ))}
        </ListTable>
      )}
    </section>
  )
}

interface RowProps {
  trigger: Alert['recent_triggers'][number]
  type: Alert['type']
  isBusy: boolean
  onRead: () => void
}

const TriggerRow = ({ trigger, type, isBusy, onRead }: RowProps) => (
  <Table.Tr>
    <Table.Td>
      <When at={trigger.triggered_at} />
    </Table.Td>
    <Table.Td>{formatValue(type, trigger.value)}</Table.Td>
    <Table.Td ta="right">
      {trigger.acknowledged ? (
        <Text size="sm" c="dimmed">
          acknowledged
        </Text>
      ) : (
        <Button size="xs" variant="light" disabled={isBusy} onClick={onRead}>
          Acknowledge
        </Button>
      )}
    </Table.Td>
  </Table.Tr>
)
