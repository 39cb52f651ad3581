import { Group, SegmentedControl, Stack, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Empty } from '../components/empty'
import { Loaded } from '../components/loaded'
import { PeriodControl } from '../components/period-control'
import { UsageTable } from '../components/usage-table'
import type { Period } from '../money-search'
import type { Organization } from '../organizations'
import { sharedGroupings, sharedUsageQuery, type SharedGrouping } from '../usage'

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
      <Loaded query={query}>
        {(usage) =>
          usage.rows.length === 0 ? (
            <Empty title="No usage yet">
              Requests of members through this organization are counted here, by day and by member.
            </Empty>
          ) : (
            <>
              <Text size="sm" c="dimmed">
                At catalogue prices, regardless of who pays.
              </Text>
              <UsageTable
                usage={usage}
                name={names[by]}
                file={`usage-of-${slug}-by-${by}-${period}`}
              />
            </>
          )
        }
      </Loaded>
    </Stack>
  )
}
