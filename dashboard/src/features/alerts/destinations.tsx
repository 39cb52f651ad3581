import { Anchor, Badge, Button, Group, Modal, Switch, Table, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { DestinationDrawer } from './destination-drawer'
import { endpointsOf } from './destination-endpoints'
import { DestinationForm } from './destination-form'
import { destinationsQuery, eventNames, kindNames, type Destination } from './destination-queries'
import { allRows } from '../../api/paging'
import { Card } from '../../components/card'
import { ListTable } from '../../components/list-table'
import { Problem } from '../../components/problem'
import { ResourceList } from '../../components/resource-list'
import { useSubmit } from '../../components/use-submit'
import { KeySecret } from '../keys/key-secret'

/** The signing secret of a webhook, shown once. */
interface Secret {
  name: string
  secret: string
}

interface Props {
  /** Undefined for the destinations of the account. */
  organizationId?: string
}

/** The destinations of the events of an account, or of an organization, outside of Tollgate. */
export function Destinations({ organizationId }: Props) {
  const query = useQuery(destinationsQuery(organizationId))
  const queries = useQueryClient()
  const [dialog, setDialog] = useState<'new' | { open: string }>()
  const [secret, setSecret] = useState<Secret>()
  const close = () => setDialog(undefined)
  const showSecret = (given: { name: string; secret: string | null }) => {
    if (given.secret !== null) setSecret({ name: given.name, secret: given.secret })
  }
  const opened =
    typeof dialog === 'object' ? query.data?.find(({ id }) => id === dialog.open) : undefined
  return (
    <Card title={organizationId === undefined ? 'Destinations' : 'Notifications'}>
      <Introduction organizationId={organizationId} onNew={() => setDialog('new')} />
      <ResourceList
        query={query}
        rows={(items) => allRows(items)}
        plural="destinations"
        empty="No destinations yet."
      >
        {(destinations) => (
          <DestinationTable
            destinations={destinations}
            organizationId={organizationId}
            onOpen={(open) => setDialog({ open })}
          />
        )}
      </ResourceList>
      <Modal opened={dialog === 'new'} onClose={close} title="New destination">
        <DestinationForm
          organizationId={organizationId}
          onCancel={close}
          onCreated={(created) => {
            close()
            showSecret(created)
            void queries.invalidateQueries({ queryKey: ['destinations'] })
          }}
        />
      </Modal>
      {opened && (
        <DestinationDrawer
          destination={opened}
          organizationId={organizationId}
          onSecret={showSecret}
          onClose={close}
        />
      )}
      {secret && <KeySecret noun="Signing key" {...secret} onClose={() => setSecret(undefined)} />}
    </Card>
  )
}

interface IntroductionProps {
  organizationId: string | undefined
  onNew: () => void
}

const Introduction = ({ organizationId, onNew }: IntroductionProps) => (
  <Group justify="space-between" gap="sm">
    <Text size="sm" c="dimmed">
      {organizationId === undefined
        ? 'Sends alerts and other notifications'
        : 'Sends low balances of the pool, budgets and failing connections'}{' '}
      to webhooks, Slack, Microsoft Teams and PagerDuty.
    </Text>
    <Button variant="default" onClick={onNew}>
      New destination
    </Button>
  </Group>
)

interface TableProps {
  destinations: readonly Destination[]
  organizationId: string | undefined
  onOpen: (id: string) => void
}

function DestinationTable({ destinations, organizationId, onOpen }: TableProps) {
  const queries = useQueryClient()
  const turning = useSubmit(async ({ id, enabled }: Pick<Destination, 'id' | 'enabled'>) => {
    await endpointsOf(organizationId).change(id, { enabled })
    await queries.invalidateQueries({ queryKey: ['destinations'] })
  })
  return (
    <>
      <Problem error={turning.error} />
      <ListTable
        columns={[
          'Name',
          { name: 'Kind', isShort: true },
          { name: 'Events', position: 'wide' },
          { name: 'Enabled', position: 'aside' },
        ]}
        minWidth={480}
      >
        {destinations.map((one) => (
          <Table.Tr key={one.id}>
            <Table.Td style={{ overflowWrap: 'anywhere' }}>
              <Anchor component="button" type="button" size="sm" onClick={() => onOpen(one.id)}>
                {one.name}
              </Anchor>
              <DestinationState destination={one} />
            </Table.Td>
            <Table.Td>{kindNames[one.kind]}</Table.Td>
            <Table.Td>
              <Group gap={4}>
                {one.events.map((event) => (
                  <Badge key={event} variant="light">
                    {eventNames[event]}
                  </Badge>
                ))}
              </Group>
            </Table.Td>
            <Table.Td>
              <Switch
                checked={one.enabled}
                onChange={(event) =>
                  void turning.submit({ id: one.id, enabled: event.currentTarget.checked })
                }
                aria-label={`Enable ${one.name}`}
              />
            </Table.Td>
          </Table.Tr>
        ))}
      </ListTable>
    </>
  )
}

/** The reason why nothing arrives, if Tollgate knows one. */
function DestinationState({ destination }: { destination: Destination }) {
  const { disabled_reason: reason, failing_since: failing } = destination
  if (reason === null && failing === null) return undefined
  return (
    <Text size="xs" c="red.8">
      {reason ?? 'Deliveries fail.'}
    </Text>
  )
}
