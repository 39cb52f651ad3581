import { Alert, Badge, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ListTable } from '../../../components/list-table'
import { LedgerAudit } from './ledger-audit'
import { Card } from '../../../components/card'
import { Facts } from '../../../components/facts'
import { Loaded } from '../../../components/loaded'
import { Moment } from '../../../components/moment'
import { Page } from '../../../components/page'
import { Tiles } from '../../../components/tiles'
import { Tile } from '../../../components/tile'
import { When } from '../../../components/when'
import { count, duration } from '../../../format/figures'
import { formatBytes, formatUptime, systemQuery, type System } from './queries'

export const SystemPage = () => {
  const query = useQuery(systemQuery)
  return (
    <Page
      title="System"
      about="Status of this node, its database and the other nodes. Updated every ten seconds."
    >
      <Loaded query={query}>
        {(system) => (
          <>
            {query.error && (
              <Alert color="red" role="alert">
                Could not update. Showing the last known status: {query.error.message}
              </Alert>
            )}
            <SystemTiles system={system} />
            <Nodes nodes={system.nodes} />
            <Breakers breakers={system.breakers} />
            <Jobs system={system} />
          </>
        )}
      </Loaded>
      <LedgerAudit />
    </Page>
  )
}

const redisLabels = {
  none: ['Not used', 'Limits are counted per process'],
  reachable: ['Reachable', 'Limits are shared by all nodes'],
  lost: ['Unreachable', 'This node enforces its share of each limit'],
} as const

function deliveryHint(delivery: System['audit_delivery']): string {
  if (delivery === null) return 'Unknown: database unreachable'
  const { lag_seconds: lag, failing_destinations: failing } = delivery
  const oldest = lag === 0 ? 'None waits' : `The oldest for ${formatUptime(lag)}`
  return failing === 0 ? oldest : `${oldest}; ${count(failing)} destinations fail`
}

function SystemTiles({ system }: { system: System }) {
  const { audit_delivery: delivery, commit, database, journal, memory, redis, usage } = system
  const [redisState, redisHint] = redisLabels[redis]
  return (
    <Tiles>
      <Tile
        label="Version"
        value={system.version}
        hint={`${commit === null ? 'Uptime' : `Commit ${commit}, uptime`} ${formatUptime(system.uptime_seconds)}, memory ${formatBytes(memory.resident_bytes)}`}
      />
      <Tile
        label="Database"
        value={database.reachable ? duration(database.latency_ms) : 'Unreachable'}
        hint={database.reachable ? `PostgreSQL ${database.version}` : 'No response within 3 s'}
      />
      <Tile label="Redis" value={redisState} hint={redisHint} />
      <Tile
        label="Unbooked usage events"
        value={count(journal.waiting)}
        hint={journal.is_behind ? 'The last attempt failed and is being retried' : 'On this node'}
      />
      <Tile
        label="Unresolved attempts"
        value={usage ? count(usage.orphans) : '–'}
        hint={
          usage
            ? `Of terminated processes; ${count(usage.orphans_older_than_a_day)} older than one day`
            : 'Unknown: database unreachable'
        }
      />
      <Tile
        label="Queued emails"
        value={usage ? count(usage.mails_waiting) : '–'}
        hint="Not sent yet"
      />
      <Tile
        label="Undelivered audit entries"
        value={delivery ? count(delivery.entries_waiting) : '–'}
        hint={deliveryHint(delivery)}
      />
    </Tiles>
  )
}

const unknown = (
  <Text size="sm" c="dimmed">
    Unknown while the database is unreachable.
  </Text>
)

const Nodes = ({ nodes }: { nodes: System['nodes'] }) => (
  <Card title="Nodes">
    {nodes === null ? (
      unknown
    ) : (
      <ListTable
        columns={['Node', { name: 'Status', position: 'aside' }, 'Started', 'Last heartbeat']}
        minWidth={620}
      >
        {nodes.map((node) => (
          <Table.Tr key={node.id}>
            <Table.Td ff="monospace">{node.id}</Table.Td>
            <Table.Td>
              <Badge variant="light" color={node.alive ? 'green' : 'red'}>
                {node.alive ? 'alive' : 'unresponsive'}
              </Badge>{' '}
              {node.is_this && <Badge variant="outline">this node</Badge>}
            </Table.Td>
            <Table.Td>
              <When at={node.started_at} />
            </Table.Td>
            <Table.Td>
              <Moment at={node.last_heartbeat_at} />
            </Table.Td>
          </Table.Tr>
        ))}
      </ListTable>
    )}
  </Card>
)

const breakerLabels = {
  open: ['open', 'red'],
  half_open: ['half-open', 'orange'],
  closed: ['closed', 'yellow'],
} as const

const Breakers = ({ breakers: { failing, total } }: { breakers: System['breakers'] }) => (
  <Card title="Circuit breakers">
    {failing.length === 0 ? (
      <Text size="sm">No recent failures on this node.</Text>
    ) : (
      <ListTable
        columns={[
          'Model',
          'Connection',
          'Owner',
          { name: 'Status', position: 'aside' },
          { name: 'Consecutive failures', isNumber: true },
        ]}
        minWidth={720}
      >
        {failing.map((one) => (
          <Breaker key={`${one.connection_id} ${one.model}`} breaker={one} />
        ))}
      </ListTable>
    )}
    {total > failing.length && (
      <Text size="sm" c="dimmed">
        And {count(total - failing.length)} more.
      </Text>
    )}
  </Card>
)

const accounts = (number: number) => (number === 1 ? '1 account' : `${count(number)} accounts`)

function Breaker({ breaker }: { breaker: System['breakers']['failing'][number] }) {
  const [label, color] = breakerLabels[breaker.state]
  return (
    <Table.Tr>
      <Table.Td ff="monospace">{breaker.model}</Table.Td>
      <Table.Td>{breaker.connection_name}</Table.Td>
      <Table.Td>{breaker.owner_id ?? 'platform'}</Table.Td>
      <Table.Td>
        <Badge variant="light" color={color}>
          {label}
        </Badge>
        {breaker.state === 'open' && (
          <Text size="xs" c="dimmed">
            for {formatUptime(breaker.retry_after_seconds)}
          </Text>
        )}
        {breaker.open_for_accounts > 0 && (
          <Text size="xs" c="dimmed">
            Open for {accounts(breaker.open_for_accounts)}
          </Text>
        )}
      </Table.Td>
      <Table.Td ta="right">{count(breaker.failures_in_a_row)}</Table.Td>
    </Table.Tr>
  )
}

const Jobs = ({ system: { jobs } }: { system: System }) => (
  <Card title="Background jobs">
    {jobs === null ? (
      unknown
    ) : (
      <Facts
        facts={[
          ['Last incremental ledger audit', <Moment key="audit" at={jobs.ledger_audit_at} />],
          [
            'Current audit round started',
            <Moment key="round" at={jobs.ledger_audit_round_began_at} />,
          ],
          ['Last alert evaluation', <Moment key="alerts" at={jobs.alerts_at} />],
        ]}
      />
    )}
  </Card>
)
