import { Anchor, Code, Group, Stack, Table, Text } from '@mantine/core'
import { useInfiniteQuery, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Card } from '../../components/card'
import { ListTable } from '../../components/list-table'
import { LogStatus } from '../logs/log-status'
import { Loaded } from '../../components/loaded'
import { When } from '../../components/when'
import { count, formatCount, duration } from '../../format/figures'
import type { Gateway } from './queries'
import { pollSoon } from '../../api/polling'
import { logsQuery, statsQuery, type ListedLog, type LogStats } from '../logs/queries'

const maxRows = 10

/**
 * The latest requests for models of these providers that no connection served, for example while the
 * gateway was offline.
 */
function useUnserved(providers: readonly string[]): readonly ListedLog[] {
  const filter = { status: 'error', range: 'day' } as const
  const { data } = useInfiniteQuery({ ...logsQuery(filter), refetchInterval: pollSoon })
  const [latest] = data?.pages ?? []
  return (latest?.logs ?? []).filter(
    ({ provider: servedBy, model }) =>
      servedBy === null && providers.some((provider) => model.startsWith(`${provider}/`)),
  )
}

/** The latest logs of both lists. */
const latestOf = (one: readonly ListedLog[], other: readonly ListedLog[]) =>
  [...one, ...other].toSorted((a, b) => b.created_at.localeCompare(a.created_at)).slice(0, maxRows)

/** The user's requests to a gateway over the last day: successful, failed and unserved. */
export function GatewayRequests({ gateway: { id, providers } }: { gateway: Gateway }) {
  const filter = { gateway: id, range: 'day' } as const
  const stats = useQuery({ ...statsQuery(filter), refetchInterval: pollSoon })
  const query = useInfiniteQuery({ ...logsQuery(filter), refetchInterval: pollSoon })
  const unserved = useUnserved(providers)
  return (
    <Card title="Your requests in the last 24 hours">
      <Text size="sm" c="dimmed">
        Your requests to this gateway, including those that another connection then served.{' '}
        <Anchor
          inherit
          underline="always"
          renderRoot={(props) => <Link to="/logs" search={filter} {...props} />}
        >
          View logs
        </Anchor>
      </Text>
      <Loaded query={stats}>{(data) => <Errors stats={data} unserved={unserved.length} />}</Loaded>
      <Loaded query={query}>
        {({ pages }) => {
          const served = pages.flatMap((page) => page.logs)
          const logs = latestOf(served, unserved)
          return logs.length > 0 && <RequestTable logs={logs} />
        }}
      </Loaded>
    </Card>
  )
}

interface ErrorsProps {
  stats: LogStats
  /** The number of requests that no connection served; no gateway's statistics include them. */
  unserved: number
}

const Errors = ({
  stats: { total_requests, failed_requests, by_error },
  unserved,
}: ErrorsProps) => (
  <Stack gap={6}>
    <Text size="sm">
      {total_requests === 0
        ? 'No requests yet.'
        : `${formatCount(total_requests, 'request')}, ${count(failed_requests)} failed.`}
      {unserved > 0 &&
        ` ${count(unserved)} more for its providers could not be served, for example while a gateway was offline.`}
    </Text>
    {by_error.length > 0 && (
      <Group gap="xs" component="ul" m={0} p={0} style={{ listStyle: 'none' }}>
        {by_error.map(({ code, count: times }) => (
          <Text key={code} component="li" size="sm">
            <Code>{code}</Code> × {count(times)}
          </Text>
        ))}
      </Group>
    )}
  </Stack>
)

const RequestTable = ({ logs }: { logs: readonly ListedLog[] }) => (
  <ListTable
    columns={[
      'Time',
      { name: 'Status', position: 'aside' },
      { name: 'Model', position: 'wide' },
      { name: 'Tokens', isNumber: true },
      { name: 'Duration', isNumber: true },
    ]}
    minWidth={560}
  >
    {logs.map((log) => (
      <Table.Tr key={log.id}>
        <Table.Td style={{ whiteSpace: 'nowrap' }}>
          <Anchor
            size="sm"
            renderRoot={(props) => <Link to="/logs" search={{ open: log.id }} {...props} />}
          >
            <When at={log.created_at} withSeconds />
          </Anchor>
        </Table.Td>
        <Table.Td>
          <LogStatus log={log} />
        </Table.Td>
        <Table.Td style={{ overflowWrap: 'anywhere' }}>{log.model || '–'}</Table.Td>
        <Table.Td ta="right">{count(log.total_tokens)}</Table.Td>
        <Table.Td ta="right">{duration(log.latency_ms)}</Table.Td>
      </Table.Tr>
    ))}
  </ListTable>
)
