import { Badge, Button, Group, Modal, Stack, Table, Text, Title } from '@mantine/core'
import { notifications } from '@mantine/notifications'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { endpointsOf } from './destination-endpoints'
import { EditDestinationForm } from './destination-form'
import {
  deliveriesQuery,
  eventNames,
  kindNames,
  shownDeliveries,
  type Delivery,
  type Destination,
} from './destination-queries'
import { allRows } from '../../api/paging'
import { Confirm } from '../../components/confirm'
import { ListTable } from '../../components/list-table'
import { Problem } from '../../components/problem'
import { FailureScope } from '../../components/query-failure'
import { ResourceList } from '../../components/resource-list'
import { SidePanel } from '../../components/side-panel'
import { useSubmit } from '../../components/use-submit'
import { When } from '../../components/when'

interface Props {
  destination: Destination
  organizationId: string | undefined
  /** Receives a new signing secret. */
  onSecret: (given: { name: string; secret: string | null }) => void
  onClose: () => void
}

/** One destination with its recent deliveries. */
export function DestinationDrawer(props: Props) {
  const { destination, organizationId, onClose } = props
  return (
    <SidePanel onClose={onClose} size="lg" title="Destination">
      <FailureScope>
        <Stack gap="lg">
          <div>
            <Title order={3} style={{ overflowWrap: 'anywhere' }}>
              {destination.name}
            </Title>
            <Text size="sm" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
              {kindNames[destination.kind]}, {destination.url}
            </Text>
          </div>
          <Actions {...props} />
          <Deliveries destination={destination} organizationId={organizationId} />
        </Stack>
      </FailureScope>
    </SidePanel>
  )
}

function Actions(props: Props) {
  const { destination, organizationId } = props
  const queries = useQueryClient()
  const [dialog, setDialog] = useState<'edit' | 'rotate' | 'delete'>()
  const testing = useSubmit(async () => {
    const { status, error } = await endpointsOf(organizationId).test(destination.id)
    const isDelivered = status === 'delivered'
    notifications.show({
      title: destination.name,
      message: isDelivered ? 'The test was delivered.' : `The test failed. ${error ?? ''}`,
      color: isDelivered ? 'green' : 'red',
    })
    await queries.invalidateQueries({ queryKey: ['destinations'] })
  })
  const close = () => setDialog(undefined)
  return (
    <>
      <Group gap="xs">
        <Button variant="default" onClick={() => setDialog('edit')}>
          Edit
        </Button>
        <Button
          variant="default"
          loading={testing.isBusy}
          onClick={() => void testing.submit(undefined)}
        >
          Send test
        </Button>
        {destination.kind === 'webhook' && (
          <Button variant="default" onClick={() => setDialog('rotate')}>
            Rotate signing key
          </Button>
        )}
        <Button variant="subtle" color="red" onClick={() => setDialog('delete')}>
          Delete
        </Button>
      </Group>
      <Problem error={testing.error} />
      <Modal opened={dialog === 'edit'} onClose={close} title={`Edit ${destination.name}`}>
        <EditDestinationForm
          destination={destination}
          organizationId={organizationId}
          onClose={close}
        />
      </Modal>
      {(dialog === 'rotate' || dialog === 'delete') && (
        <Dialog {...props} kind={dialog} onEnd={close} />
      )}
    </>
  )
}

interface DialogProps extends Props {
  kind: 'rotate' | 'delete'
  onEnd: () => void
}

function Dialog(props: DialogProps) {
  const { destination, organizationId, onSecret, onClose, kind, onEnd } = props
  const queries = useQueryClient()
  const endpoints = endpointsOf(organizationId)
  const rotate = async () => onSecret(await endpoints.rotate(destination.id))
  const remove = async () => {
    await endpoints.delete(destination.id)
    onClose()
    await queries.invalidateQueries({ queryKey: ['destinations'] })
  }
  return kind === 'rotate' ? (
    <Confirm
      question={`Rotate the signing key of ${destination.name}?`}
      about="For 24 hours deliveries have a signature of the old key as well."
      label="Rotate"
      onConfirm={rotate}
      onClose={onEnd}
    />
  ) : (
    <Confirm
      question={`Delete ${destination.name}?`}
      about="Its deliveries are deleted as well; those that wait are not sent."
      label="Delete"
      onConfirm={remove}
      onClose={onEnd}
    />
  )
}

function Deliveries({
  destination: { id, enabled },
  organizationId,
}: Pick<Props, 'destination' | 'organizationId'>) {
  const query = useQuery(deliveriesQuery(organizationId, id))
  const queries = useQueryClient()
  const resending = useSubmit(async (deliveryId: string) => {
    await endpointsOf(organizationId).resend(id, deliveryId)
    await queries.invalidateQueries({ queryKey: ['destinations'] })
  })
  return (
    <section>
      <Title order={4} mb={4}>
        Recent deliveries
      </Title>
      <Problem error={resending.error} />
      <ResourceList
        query={query}
        rows={(items) => allRows(items)}
        plural="deliveries"
        empty="Nothing was delivered yet."
      >
        {(deliveries) => (
          <>
            <ListTable
              columns={['Time', 'Event', 'Status', { name: 'Send again', isHidden: true }]}
              minWidth={420}
            >
              {deliveries.map((delivery) => (
                <DeliveryRow
                  key={delivery.id}
                  delivery={delivery}
                  isDisabled={!enabled || resending.isBusy}
                  onResend={() => void resending.submit(delivery.id)}
                />
              ))}
            </ListTable>
            {deliveries.length === shownDeliveries && (
              <Text size="sm" c="dimmed">
                The last {shownDeliveries} are shown.
              </Text>
            )}
          </>
        )}
      </ResourceList>
    </section>
  )
}

const statusColors = { waiting: 'yellow', delivered: 'green', failed: 'red' } as const

interface RowProps {
  delivery: Delivery
  isDisabled: boolean
  onResend: () => void
}

const DeliveryRow = ({ delivery, isDisabled, onResend }: RowProps) => (
  <Table.Tr>
    <Table.Td>
      <When at={delivery.created_at} />
    </Table.Td>
    <Table.Td>{namesByEvent.get(delivery.event) ?? 'Test'}</Table.Td>
    <Table.Td>
      <Badge color={statusColors[delivery.status]} variant="light">
        {delivery.status}
      </Badge>
      {delivery.error !== null && <Text size="xs">{delivery.error}</Text>}
      {delivery.next_attempt_at !== null && delivery.attempts > 0 && (
        <Text size="xs" c="dimmed">
          Next attempt: <When at={delivery.next_attempt_at} />
        </Text>
      )}
    </Table.Td>
    <Table.Td ta="right">
      <Button size="xs" variant="light" disabled={isDisabled} onClick={onResend}>
        Send again
      </Button>
    </Table.Td>
  </Table.Tr>
)

const namesByEvent = new Map<string, string>(Object.entries(eventNames))
