import { ResourceList } from '../../components/resource-list'
import { Anchor, Button, Group, Table, Text } from '@mantine/core'
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import { maxNew } from '../../api/new-items'
import { ListTable } from '../../components/list-table'
import { LogRemarks } from './log-remarks'
import { LogStatus } from './log-status'
import { RefreshButton } from '../../components/refresh-button'
import { Page } from '../../components/page'
import { When } from '../../components/when'
import {
  filterOf,
  logsQuery,
  newLogsQuery,
  statsQuery,
  type ListedLog,
  type LogSearch,
} from './queries'
import { count, duration } from '../../format/figures'
import { Money } from '../../components/money'
import { payerName } from '../../format/payer'
import { LogDrawer } from './log-drawer'
import { LogExport } from './log-export'
import { LogFilters } from './log-filters'
import { LogSums } from './log-sums'

const route = getRouteApi('/home/logs')

export function LogsPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const queries = useQueryClient()
  const filter = filterOf(search)
  const stats = useQuery(statsQuery(filter))
  const query = useInfiniteQuery(logsQuery(filter))
  const logs = query.data?.pages.flatMap((page) => page.logs) ?? []
  const { data: newCount } = useQuery(newLogsQuery(filter, logs, query.dataUpdatedAt))
  const change = (changed: LogSearch) =>
    void navigate({ search: (before) => ({ ...before, ...changed }), replace: true })
  return (
    <Page
      title="Logs"
      about="All requests of your API keys, including rejected ones, newest first."
      actions={
        <Group gap="xs">
          <RefreshButton
            isBusy={query.isRefetching && !query.isFetchingNextPage}
            newCount={newCount}
            max={maxNew}
            noun="request"
            onRefresh={() => void queries.invalidateQueries({ queryKey: ['logs'] })}
          />
          <LogExport filter={filter} isEmpty={stats.data?.total_requests === 0} />
        </Group>
      }
    >
      <LogFilters search={search} stats={stats.data} onChange={change} />
      <LogSums query={stats} />
      <ResourceList
        query={query}
        rows={({ pages }) => ({ items: logs, total: pages[0]?.total ?? 0 })}
        plural="requests"
        empty={{
          title: 'No requests in the last 30 days',
          text: 'Requests with your API keys to /v1 appear here with their cost, duration and provider.',
        }}
        isFiltered={Object.values(filter).some((value) => value !== undefined)}
        unfilter={
          <Button renderRoot={(props) => <Link to="/logs" search={{}} {...props} />}>
            Show all requests
          </Button>
        }
      >
        {(listed) => <LogTable logs={listed} />}
      </ResourceList>
      {search.open !== undefined && (
        <LogDrawer id={search.open} onClose={() => change({ open: undefined })} />
      )}
    </Page>
  )
}

const LogTable = ({ logs }: { logs: readonly ListedLog[] }) => (
  <ListTable
    columns={[
      'Time',
      { name: 'Status', position: 'aside' },
      { name: 'Model', position: 'wide' },
      { name: 'Tokens', isNumber: true },
      { name: 'Duration', isNumber: true },
      { name: 'Cost', isNumber: true },
      'Key',
    ]}
    minWidth={760}
    isDense
  >
    {logs.map((log) => (
      <LogRow key={log.id} log={log} />
    ))}
  </ListTable>
)

const LogRow = ({ log }: { log: ListedLog }) => (
  <Table.Tr>
    <Table.Td style={{ whiteSpace: 'nowrap' }}>
      <Anchor
        size="sm"
        renderRoot={(props) => (
          <Link
            from="/logs"
            to="/logs"
            search={(before) => ({ ...before, open: log.id })}
            {...props}
          />
        )}
      >
        <When at={log.created_at} withSeconds />
      </Anchor>
    </Table.Td>
    <Table.Td>
      <LogStatus log={log} />
    </Table.Td>
    <Table.Td>
      <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
        {log.model || '–'}
      </Text>
      <LogRemarks log={log} />
    </Table.Td>
    <Table.Td ta="right" title={`${log.input_tokens} in, ${log.output_tokens} out`}>
      {count(log.total_tokens)}
    </Table.Td>
    <Table.Td ta="right">{duration(log.latency_ms)}</Table.Td>
    <Table.Td ta="right">
      <Money amount={log.cost} of="request" />
      {log.cost > 0 && log.payer !== 'personal' && (
        <Text size="xs" c="dimmed" style={{ overflowWrap: 'anywhere' }}>
          by {payerName(log)}
        </Text>
      )}
    </Table.Td>
    <Table.Td title={log.api_key_prefix ?? ''}>
      {log.api_key_name ?? (log.api_key_prefix ? `${log.api_key_prefix}…` : '–')}
    </Table.Td>
  </Table.Tr>
)
