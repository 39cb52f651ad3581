import { Alert, Badge, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { ListTable } from '../../components/list-table'
import { LedgerAudit } from './ledger-audit'
import { Card } from '../../components/card'
import { Facts } from '../../components/facts'
import { Loaded } from '../../components/loaded'
import { Moment } from '../../components/moment'
import { Page } from '../../components/page'
import { Tiles } from '../../components/tiles'
import { Tile } from '../../components/tile'
import { When } from '../../components/when'
import { count, duration } from '../../figures'
import { shownBytes, shownUptime, systemQuery, type System } from '../../operator/system'

export const SystemPage = () => {
  const query = useQuery(systemQuery)
  return (
    <Page
      title="System"
      about="What this node knows of itself, its database and the other nodes. Looked at again every ten seconds."
    >
      <Loaded query={query}>
        {(system) => (
          <>
            {query.error && (
              <Alert color="red" role="alert">
                This is how it was: {query.error.message}
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

const redisWords = {
  none: ['Not used', 'Limits are counted by this process alone'],
  reachable: ['Reachable', 'Limits are shared by all nodes'],
  lost: ['Lost', 'This node keeps to its share of each limit'],
} as const

function SystemTiles({ system }: { system: System }) {
  const { database, journal, memory, redis, usage, version } = system
  const [redisState, redisHint] = redisWords[redis]
  return (
    <Tiles>
      <Tile
        label="Version"
        value={version}
        hint={`Up for ${shownUptime(system.uptime_seconds)}, with ${shownBytes(memory.resident_bytes)} of memory`}
      />
      <Tile
        label="Database"
        value={database.reachable ? duration(database.latency_ms) : 'Not reachable'}
        hint={database.reachable ? `PostgreSQL ${database.version}` : 'It gave no answer in 3 s'}
      />
      <Tile label="Redis" value={redisState} hint={redisHint} />
      <Tile
        label="Waiting to be booked"
        value={count(journal.waiting)}
        hint={journal.is_behind ? 'The last try failed; it is tried again' : 'Usage on this node'}
      />
      <Tile
        label="Unresolved attempts"
        value={usage ? count(usage.orphans) : '–'}
        hint={
          usage
            ? `Of processes that died; ${count(usage.orphans_older_than_a_day)} older than a day`
            : 'The database does not tell'
        }
      />
      <Tile
        label="Mails that wait"
        value={usage ? count(usage.mails_waiting) : '–'}
        hint="Not sent yet"
      />
    </Tiles>
  )
}

const unknown = (
  <Text size="sm" c="dimmed">
    Not known while the database does not answer.
  </Text>
)

const Nodes = ({ nodes }: { nodes: System['nodes'] }) => (
  <Card title="Nodes">
    {nodes === null ? (
      unknown
    ) : (
      <ListTable
        columns={['Node', { name: 'State', place: 'aside' }, 'Started', 'Last heartbeat']}
        minWidth={620}
      >
        {nodes.map((node) => (
          <Table.Tr key={node.id}>
            <Table.Td ff="monospace">{node.id}</Table.Td>
            <Table.Td>
              <Badge variant="light" color={node.alive ? 'green' : 'red'}>
                {node.alive ? 'alive' : 'silent'}
              </Badge>{' '}
              {node.is_this && <Badge variant="outline">this one</Badge>}
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

const breakerWords = {
  open: ['passed over for all', 'red'],
  half_open: ['on trial', 'orange'],
  closed: ['failing at times', 'yellow'],
} as const

const Breakers = ({ breakers: { failing, total } }: { breakers: System['breakers'] }) => (
  <Card title="Failing connections">
    {failing.length === 0 ? (
      <Text size="sm">Nothing has failed on this node lately.</Text>
    ) : (
      <ListTable
        columns={[
          'Model',
          'Connection',
          'Whose',
          { name: 'State', place: 'aside' },
          { name: 'Failures in a row', isNumber: true },
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
  const [words, color] = breakerWords[breaker.state]
  return (
    <Table.Tr>
      <Table.Td ff="monospace">{breaker.model}</Table.Td>
      <Table.Td>{breaker.connection_name}</Table.Td>
      <Table.Td>{breaker.owner_id ?? 'the platform'}</Table.Td>
      <Table.Td>
        <Badge variant="light" color={color}>
          {words}
        </Badge>
        {breaker.state === 'open' && (
          <Text size="xs" c="dimmed">
            for {shownUptime(breaker.retry_after_seconds)}
          </Text>
        )}
        {breaker.open_for_accounts > 0 && (
          <Text size="xs" c="dimmed">
            Passed over for {accounts(breaker.open_for_accounts)}
          </Text>
        )}
      </Table.Td>
      <Table.Td ta="right">{count(breaker.failures_in_a_row)}</Table.Td>
    </Table.Tr>
  )
}

const Jobs = ({ system: { jobs } }: { system: System }) => (
  <Card title="Work that one node does for all">
    {jobs === null ? (
      unknown
    ) : (
      <Facts
        facts={[
          ['Ledger checked in part', <Moment key="audit" at={jobs.ledger_audit_at} />],
          [
            'Round through all accounts began',
            <Moment key="round" at={jobs.ledger_audit_round_began_at} />,
          ],
          ['Alerts looked at', <Moment key="alerts" at={jobs.alerts_at} />],
        ]}
      />
    )}
  </Card>
)
