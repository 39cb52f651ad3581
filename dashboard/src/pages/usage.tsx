import { Group, SegmentedControl, Select, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Empty } from '../components/empty'
import { Loaded } from '../components/loaded'
import { Page } from '../components/page'
import { PeriodControl } from '../components/period-control'
import { UsageTable } from '../components/usage-table'
import { keysQuery } from '../keys'
import { groupings, type Grouping, type Period, type UsageSearch } from '../money-search'
import { organizationsQuery } from '../organizations'
import { ownUsageQuery, sharedUsageQuery, type Usage } from '../usage'

const route = getRouteApi('/home/usage')

const names: Readonly<Record<Grouping, string>> = { model: 'Model', key: 'Key', member: 'Member' }

/** Usage by model, key or member. */
export function UsagePage() {
  const { by = 'model', period = '7d' } = route.useSearch()
  const navigate = route.useNavigate()
  const go = (changed: UsageSearch) =>
    void navigate({ search: (before) => ({ ...before, ...changed }), replace: true })
  return (
    <Page
      title="Usage"
      about="Usage of all your requests, including rejected ones, regardless of who pays."
    >
      <Group>
        <SegmentedControl
          aria-label="Usage by"
          data={groupings.map((value) => ({ value, label: names[value] }))}
          value={by}
          onChange={(next) => go({ by: next })}
        />
        <PeriodControl value={period} onChange={(next) => go({ period: next })} />
      </Group>
      {by === 'member' ? (
        <Members period={period} onOrganization={(organization) => go({ organization })} />
      ) : (
        <Own by={by} period={period} />
      )}
    </Page>
  )
}

const Nothing = () => (
  <Empty title="No usage in this period">Requests are counted as soon as they end.</Empty>
)

/** Replaces key prefixes with names for keys that still exist. */
function withNames(usage: Usage, known: ReadonlyMap<string, string>): Usage {
  const rows = usage.rows.map((row) => {
    const name = known.get(row.id)
    return name === undefined ? row : { ...row, name, about: row.name }
  })
  return { ...usage, rows }
}

function Own({ by, period }: { by: 'model' | 'key'; period: Period }) {
  const query = useQuery(ownUsageQuery(by, period))
  const { data: keys = [] } = useQuery(keysQuery)
  const known = new Map(keys.map(({ id, name }) => [id, name]))
  return (
    <Loaded query={query}>
      {(usage) =>
        usage.rows.length === 0 ? (
          <Nothing />
        ) : (
          <UsageTable
            usage={by === 'key' ? withNames(usage, known) : usage}
            name={names[by]}
            file={`usage-by-${by}-${period}`}
          />
        )
      }
    </Loaded>
  )
}

interface MembersProps {
  period: Period
  onOrganization: (id: string) => void
}

function Members({ period, onOrganization }: MembersProps) {
  const { organization: chosen } = route.useSearch()
  const query = useQuery(organizationsQuery)
  return (
    <Loaded query={query}>
      {(organizations) => {
        const active = organizations.filter(({ status }) => status === 'active')
        const shown = active.find(({ id }) => id === chosen) ?? active[0]
        if (!shown) {
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
              value={shown.id}
              onChange={(id) => onOrganization(id ?? shown.id)}
            />
            <OfMembers id={shown.id} slug={shown.slug} period={period} />
          </Stack>
        )
      }}
    </Loaded>
  )
}

function OfMembers({ id, slug, period }: { id: string; slug: string; period: Period }) {
  const query = useQuery(sharedUsageQuery(id, 'user', period))
  return (
    <Loaded query={query}>
      {(usage) =>
        usage.rows.length === 0 ? (
          <Nothing />
        ) : (
          <UsageTable
            usage={usage}
            name={names.member}
            file={`usage-of-${slug}-by-member-${period}`}
          />
        )
      }
    </Loaded>
  )
}
