import { Anchor, Button, Group, Select, Table, Text } from '@mantine/core'
import { useInfiniteQuery, useQuery, useQueryClient } from '@tanstack/react-query'
import { getRouteApi, Link } from '@tanstack/react-router'
import {
  newRequestsQuery,
  rangeNames,
  requestsQuery,
  statusNames,
  usualRange,
  type AnyRequest,
  type RequestSearch,
} from './queries'
import { RequestDrawer } from './request-drawer'
import { maxNew } from '../../../api/new-items'
import { toRows } from '../../../api/paging'
import { FilterSelect } from '../../../components/filter-select'
import { Filters } from '../../../components/filters'
import { ListTable } from '../../../components/list-table'
import { Page } from '../../../components/page'
import { RefreshButton } from '../../../components/refresh-button'
import { ResourceList } from '../../../components/resource-list'
import { SearchBox } from '../../../components/search-box'
import { When } from '../../../components/when'
import { duration } from '../../../format/figures'
import { Money } from '../../../components/money'
import { LogRemarks } from '../../logs/log-remarks'
import { LogStatus } from '../../logs/log-status'
import { userQuery } from '../users/queries'

const route = getRouteApi('/home/operator/requests')

export function RequestsPage() {
  const search = route.useSearch()
  const navigate = route.useNavigate()
  const queries = useQueryClient()
  const query = useInfiniteQuery(requestsQuery(search))
  const logs = query.data?.pages.flatMap((page) => page.logs) ?? []
  const { data: newCount } = useQuery(newRequestsQuery(search, logs, query.dataUpdatedAt))
  const change = (changed: RequestSearch) =>
    void navigate({ search: (now) => ({ ...now, ...changed }), replace: true })
  return (
    <Page
      title="Requests"
      about="Requests of all accounts, newest first. Opening one is recorded in the audit log."
      actions={
        <RefreshButton
          isBusy={query.isRefetching && !query.isFetchingNextPage}
          newCount={newCount}
          max={maxNew}
          noun="request"
          onRefresh={() =>
            void queries.invalidateQueries({ queryKey: ['operator', 'requests', 'list'] })
          }
        />
      }
    >
      <RequestFilters search={search} onChange={change} />
      <ResourceList
        query={query}
        rows={({ pages }) => toRows(pages, ({ logs }) => logs)}
        plural="requests"
        empty={{
          title: 'No requests in this time',
          text: 'Requests of all accounts to /v1, and of the playground, appear here.',
        }}
        isFiltered={Object.values({ ...search, open: undefined }).some(Boolean)}
        unfilter={
          <Button renderRoot={(props) => <Link to="/operator/requests" search={{}} {...props} />}>
            Show all requests
          </Button>
        }
      >
        {(logs) => <RequestTable logs={logs} />}
      </ResourceList>
      {search.open !== undefined && (
        <RequestDrawer id={search.open} onClose={() => change({ open: undefined })} />
      )}
    </Page>
  )
}

interface FiltersProps {
  search: RequestSearch
  onChange: (changed: RequestSearch) => void
}

const RequestFilters = ({ search, onChange }: FiltersProps) => (
  <>
    <Filters>
      <SearchBox
        label="Search"
        placeholder="Request id or error"
        value={search.search}
        onSearch={(text) => onChange({ search: text })}
      />
      <Select
        label="Time"
        allowDeselect={false}
        data={Object.entries(rangeNames).map(([value, label]) => ({ value, label }))}
        value={search.range ?? usualRange}
        onChange={(value) => {
          const range = Object.keys(rangeNames).find((name) => name === value)
          onChange({ range: isRange(range) && range !== usualRange ? range : undefined })
        }}
      />
      <FilterSelect
        label="Status"
        isLabelled
        all="All"
        names={statusNames}
        value={search.status}
        onChange={(status) => onChange({ status })}
      />
      <SearchBox
        label="Model"
        placeholder="All"
        value={search.model}
        onSearch={(model) => onChange({ model })}
      />
      <SearchBox
        label="Provider"
        placeholder="All"
        value={search.provider}
        onSearch={(provider) => onChange({ provider })}
      />
    </Filters>
    {search.user !== undefined && (
      <OnlyAccount id={search.user} onClear={() => onChange({ user: undefined })} />
    )}
  </>
)

const isRange = (name: string | undefined): name is keyof typeof rangeNames =>
  name !== undefined && name in rangeNames

/** Names the account whose requests are listed. */
function OnlyAccount({ id, onClear }: { id: string; onClear: () => void }) {
  const { data: user } = useQuery(userQuery(id))
  return (
    <Group gap="xs">
      <Text size="sm">
        Only requests of{' '}
        <Anchor
          size="sm"
          underline="always"
          renderRoot={(props) => (
            <Link to="/operator/users/$id" params={{ id }} search={{}} {...props} />
          )}
        >
          {user?.email ?? id}
        </Anchor>
      </Text>
      <Button size="compact-xs" variant="subtle" onClick={onClear}>
        Show all accounts
      </Button>
    </Group>
  )
}

const RequestTable = ({ logs }: { logs: readonly AnyRequest[] }) => (
  <ListTable
    columns={[
      'Time',
      { name: 'Status', position: 'aside' },
      { name: 'Account', position: 'wide' },
      { name: 'Model', position: 'wide' },
      { name: 'Duration', isNumber: true },
      { name: 'Cost', isNumber: true },
    ]}
    minWidth={820}
    isDense
  >
    {logs.map((log) => (
      <RequestRow key={log.id} log={log} />
    ))}
  </ListTable>
)

const RequestRow = ({ log }: { log: AnyRequest }) => (
  <Table.Tr>
    <Table.Td style={{ whiteSpace: 'nowrap' }}>
      <Anchor
        size="sm"
        renderRoot={(props) => (
          <Link
            from="/operator/requests"
            to="."
            search={(now) => ({ ...now, open: log.id })}
            resetScroll={false}
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
    <Table.Td style={{ overflowWrap: 'anywhere' }}>
      <Anchor
        size="sm"
        renderRoot={(props) => (
          <Link to="/operator/users/$id" params={{ id: log.user_id }} search={{}} {...props} />
        )}
      >
        {log.email ?? log.user_id}
      </Anchor>
    </Table.Td>
    <Table.Td style={{ overflowWrap: 'anywhere' }}>
      <Text size="sm">{log.model || '–'}</Text>
      <LogRemarks log={log} />
    </Table.Td>
    <Table.Td ta="right">{duration(log.latency_ms)}</Table.Td>
    <Table.Td ta="right">
      <Money amount={log.cost} of="request" />
    </Table.Td>
  </Table.Tr>
)
