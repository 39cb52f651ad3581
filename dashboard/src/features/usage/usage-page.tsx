import { Group, SegmentedControl, Select, Stack } from '@mantine/core'
import { useQuery, type UseQueryResult } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { allRows } from '../../api/paging'
import { Empty } from '../../components/empty'
import { Loaded } from '../../components/loaded'
import { ResourceList } from '../../components/resource-list'
import { Page } from '../../components/page'
import { TimeControl } from './time-control'
import { UsageTable } from './usage-table'
import { keysQuery } from '../keys/queries'
import { groupings, type Grouping, type Period, type UsageSearch } from '../../url/period'
import { toStatementMonth } from '../billing/statement-month'
import { organizationsQuery } from '../organizations/queries'
import {
  ownMonthQuery,
  ownUsageQuery,
  sharedMonthQuery,
  sharedUsageQuery,
  type Usage,
} from './queries'

const route = getRouteApi('/home/usage')

const names: Readonly<Record<Grouping, string>> = {
  model: 'Model',
  key: 'Key',
  payer: 'Payer',
  member: 'Member',
}

/** The groupings that sums of months have. */
const monthGroupings = ['model', 'key', 'member'] as const

/** Usage by model, key or member. */
export function UsagePage() {
  const { by: requested = 'model', period = '7d', month } = route.useSearch()
  const navigate = route.useNavigate()
  const go = (changed: UsageSearch) =>
    void navigate({ search: (before) => ({ ...before, ...changed }), replace: true })
  const available = month === undefined ? groupings : monthGroupings
  const by = available.find((name) => name === requested) ?? 'model'
  return (
    <Page
      title="Usage"
      about="Usage of all your requests, including rejected ones, whichever account pays for them."
    >
      <Group>
        <SegmentedControl
          aria-label="Usage by"
          data={available.map((value) => ({ value, label: names[value] }))}
          value={by}
          onChange={(next) => go({ by: next })}
        />
        <TimeControl period={period} month={month} onChange={go} />
      </Group>
      {by === 'member' ? (
        <Members
          period={period}
          month={month}
          onOrganization={(organization) => go({ organization })}
        />
      ) : by !== 'payer' && month !== undefined ? (
        <OwnMonth by={by} month={month} />
      ) : (
        <Own by={by} period={period} />
      )}
    </Page>
  )
}

/** Replaces key prefixes with names for keys that still exist. */
function withNames(usage: Usage, namesById: ReadonlyMap<string, string>): Usage {
  const rows = usage.rows.map((row) => {
    const name = namesById.get(row.id)
    return name === undefined ? row : { ...row, name, about: row.name }
  })
  return { ...usage, rows }
}

interface ListProps {
  query: UseQueryResult<Usage>
  children: (usage: Usage) => ReactNode
}

const UsageList = ({ query, children }: ListProps) => (
  <ResourceList
    query={query}
    rows={({ rows }) => allRows(rows)}
    plural="requests"
    empty={{
      title: 'No usage in this period',
      text: 'Requests are counted as soon as they end.',
    }}
  >
    {(_, usage) => children(usage)}
  </ResourceList>
)

function Own({ by, period }: { by: 'model' | 'key' | 'payer'; period: Period }) {
  const query = useQuery(ownUsageQuery(by, period))
  const { data: keys = [] } = useQuery(keysQuery)
  const namesById = new Map(keys.map(({ id, name }) => [id, name]))
  return (
    <UsageList query={query}>
      {(usage) => (
        <UsageTable
          usage={by === 'key' ? withNames(usage, namesById) : usage}
          name={names[by]}
          file={`usage-by-${by}-${period}`}
        />
      )}
    </UsageList>
  )
}

function OwnMonth({ by, month }: { by: 'model' | 'key'; month: string }) {
  const query = useQuery(ownMonthQuery(by, toStatementMonth(month, Date.now())))
  return (
    <UsageList query={query}>
      {(usage) => <UsageTable usage={usage} name={names[by]} file={`usage-by-${by}-${month}`} />}
    </UsageList>
  )
}

interface MembersProps {
  period: Period
  month: string | undefined
  onOrganization: (id: string) => void
}

function Members({ period, month, onOrganization }: MembersProps) {
  const { organization: chosen } = route.useSearch()
  const query = useQuery(organizationsQuery)
  return (
    <Loaded query={query}>
      {(organizations) => {
        const active = organizations.filter(({ status }) => status === 'active')
        const selected = active.find(({ id }) => id === chosen) ?? active[0]
        if (!selected) {
          return (
            <Empty title="No organizations yet">
              Members' usage of an organization's credits and connections appears here.
            </Empty>
          )
        }
        return (
          <Stack gap="sm">
            <Select
              label="Organization"
              maw={320}
              allowDeselect={false}
              data={active.map(({ id, name }) => ({ value: id, label: name }))}
              value={selected.id}
              onChange={(id) => onOrganization(id ?? selected.id)}
            />
            <OfMembers id={selected.id} slug={selected.slug} period={period} month={month} />
          </Stack>
        )
      }}
    </Loaded>
  )
}

interface OfMembersProps extends Pick<MembersProps, 'period' | 'month'> {
  id: string
  slug: string
}

const OfMembers = ({ month, ...props }: OfMembersProps) =>
  month === undefined ? <MembersInPeriod {...props} /> : <MembersInMonth {...props} month={month} />

function MembersInPeriod({ id, slug, period }: Omit<OfMembersProps, 'month'>) {
  const query = useQuery(sharedUsageQuery(id, 'user', period))
  return (
    <UsageList query={query}>
      {(usage) => (
        <UsageTable
          usage={usage}
          name={names.member}
          file={`usage-of-${slug}-by-member-${period}`}
        />
      )}
    </UsageList>
  )
}

function MembersInMonth({
  id,
  slug,
  month,
}: Pick<OfMembersProps, 'id' | 'slug'> & { month: string }) {
  const query = useQuery(sharedMonthQuery(id, 'user', month))
  return (
    <UsageList query={query}>
      {(usage) => (
        <UsageTable
          usage={usage}
          name={names.member}
          file={`usage-of-${slug}-by-member-${month}`}
        />
      )}
    </UsageList>
  )
}
