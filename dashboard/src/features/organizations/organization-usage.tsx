import { Group, SegmentedControl, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { allRows } from '../../api/paging'
import { ResourceList } from '../../components/resource-list'
import { PeriodControl } from '../usage/period-control'
import { UsageTable } from '../usage/usage-table'
import type { Period } from '../../url/period'
import type { Organization } from './queries'
import { sharedGroupings, sharedUsageQuery, type SharedGrouping } from '../usage/queries'

const names: Readonly<Record<SharedGrouping, string>> = {
  user: 'Member',
  model: 'Model',
  department: 'Department',
}

interface Props {
  organization: Organization
  by: SharedGrouping
  period: Period
  onChange: (changed: { by?: SharedGrouping; period?: Period }) => void
}

/** The members' usage of an organization. */
export function OrganizationUsage({ organization: { id, slug }, by, period, onChange }: Props) {
  const query = useQuery(sharedUsageQuery(id, by, period))
  return (
    <Stack gap="sm">
      <Group>
        <SegmentedControl
          aria-label="Usage by"
          data={sharedGroupings.map((value) => ({ value, label: names[value] }))}
          value={by}
          onChange={(next) => onChange({ by: next })}
        />
        <PeriodControl value={period} onChange={(next) => onChange({ period: next })} />
      </Group>
      <ResourceList
        query={query}
        rows={({ rows }) => allRows(rows)}
        plural="requests"
        empty={{
          title: 'No usage in this period',
          text: 'Requests of members through this organization are counted here, by day and by member.',
        }}
      >
        {(_, usage) => (
          <>
            <Text size="sm" c="dimmed">
              At catalog prices, regardless of who pays.
            </Text>
            <UsageTable
              usage={usage}
              name={names[by]}
              file={`usage-of-${slug}-by-${by}-${period}`}
            />
          </>
        )}
      </ResourceList>
    </Stack>
  )
}
