import { Anchor, Badge, Group, Select, Stack, Switch, Table, Text } from '@mantine/core'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { Filters } from '../../components/filters'
import { ListTable } from '../../components/list-table'
import {
  alertsQuery,
  alertTypes,
  channelNames,
  conditionOf,
  type ListedAlert,
  typeNames,
} from './queries'
import { api } from '../../api/client'
import { Empty } from '../../components/empty'
import { ListPage } from '../../components/list-page'
import { Problem } from '../../components/problem'
import { When } from '../../components/when'
import { oneOf } from '../../url/search'
import { count } from '../../format/figures'
import { useSubmit } from '../../components/use-submit'
import { AlertDrawer } from './alert-drawer'
import { AlertForm } from './alert-form'
import { Destinations } from './destinations'

const route = getRouteApi('/home/alerts')

export function AlertsPage() {
  const { type, open } = route.useSearch()
  const navigate = route.useNavigate()
  const shut = () =>
    void navigate({ search: (before) => ({ ...before, open: undefined }), replace: true })
  return (
    <>
      <ListPage
        title="Alerts"
        about="Get notified when spending, errors or usage pass a threshold."
        query={useQuery(alertsQuery)}
        empty={{
          title: 'No alerts yet',
          text: 'An alert checks your requests continuously and notifies you by email, in your inbox and at the destinations below. Start with an alert on your daily spending.',
        }}
        add={{
          label: 'New alert',
          form: (close) => <AlertForm onClose={close} />,
          size: 'lg',
        }}
        below={<Destinations />}
      >
        {(alerts) => <Alerts alerts={alerts} type={type} />}
      </ListPage>
      {open !== undefined && <AlertDrawer id={open} onClose={shut} />}
    </>
  )
}

interface AlertsProps {
  alerts: readonly ListedAlert[]
  type: ListedAlert['type'] | undefined
}

function Alerts({ alerts, type }: AlertsProps) {
  const navigate = route.useNavigate()
  const queries = useQueryClient()
  const turning = useSubmit(async ({ id, enabled }: Pick<ListedAlert, 'id' | 'enabled'>) => {
    await api.PUT('/api/account/alerts/{alert_id}', {
      params: { path: { alert_id: id } },
      body: { enabled },
    })
    await queries.invalidateQueries({ queryKey: ['alerts'] })
  })
  const displayed = alerts.filter((one) => type === undefined || one.type === type)
  return (
    <Stack gap="sm">
      <Filters>
        <Select
          aria-label="Type"
          placeholder="All types"
          clearable
          data={typeNames}
          value={type ?? null}
          onChange={(value) =>
            void navigate({
              search: (before) => ({ ...before, type: oneOf({ value }, 'value', alertTypes) }),
              replace: true,
            })
          }
        />
      </Filters>
      <Problem error={turning.error} />
      {displayed.length === 0 ? (
        <Empty title="No alerts of this type">Select another type or create an alert.</Empty>
      ) : (
        <AlertTable alerts={displayed} onToggle={(turned) => void turning.submit(turned)} />
      )}
    </Stack>
  )
}

interface TableProps {
  alerts: readonly ListedAlert[]
  onToggle: (turned: Pick<ListedAlert, 'id' | 'enabled'>) => void
}

const AlertTable = ({ alerts, onToggle }: TableProps) => (
  <ListTable
    columns={[
      'Name',
      { name: 'Condition', position: 'wide' },
      'Channels',
      'Last triggered',
      { name: 'Enabled', position: 'aside' },
    ]}
    minWidth={720}
  >
    {alerts.map((alert) => (
      <Table.Tr key={alert.id}>
        <Table.Td style={{ overflowWrap: 'anywhere' }}>
          <Anchor
            size="sm"
            renderRoot={(props) => (
              <Link
                from="/alerts"
                to="/alerts"
                search={(before) => ({ ...before, open: alert.id })}
                {...props}
              />
            )}
          >
            {alert.name}
          </Anchor>
          {alert.description && (
            <Text size="xs" c="dimmed">
              {alert.description}
            </Text>
          )}
        </Table.Td>
        <Table.Td>{conditionOf(alert)}</Table.Td>
        <Table.Td>
          <Channels channels={alert.notification_channels} />
        </Table.Td>
        <Table.Td>
          {alert.last_triggered_at ? <When at={alert.last_triggered_at} /> : 'never'}
          <Text size="xs" c="dimmed">
            {count(alert.trigger_count)} in all
          </Text>
        </Table.Td>
        <Table.Td>
          <Switch
            checked={alert.enabled}
            onChange={(event) => onToggle({ id: alert.id, enabled: event.currentTarget.checked })}
            aria-label={`Enable ${alert.name}`}
          />
        </Table.Td>
      </Table.Tr>
    ))}
  </ListTable>
)

const Channels = ({ channels }: { channels: ListedAlert['notification_channels'] }) => (
  <Group gap={4}>
    {channels.map((channel) => (
      <Badge key={channel} variant="light">
        {channelNames[channel]}
      </Badge>
    ))}
    {channels.length === 0 && (
      <Text size="sm" c="dimmed">
        history only
      </Text>
    )}
  </Group>
)
