import { Group, SegmentedControl, SimpleGrid, Stack, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { activityQuery, hasBegunQuery, type Metrics } from '../billing/queries'
import { Loaded } from '../../components/loaded'
import { Page } from '../../components/page'
import { periods, type Measure, type Period } from '../../url/period'
import { FirstSteps } from './first-steps'
import { MoneyTiles, RequestTiles } from './overview-tiles'
import { TopModels } from './top-models'
import { Usage } from './recent-usage'

const route = getRouteApi('/home/')
const periodLabels: Readonly<Record<Period, string>> = {
  '24h': 'Last 24 hours',
  '7d': 'Last 7 days',
  '30d': 'Last 30 days',
}

export function OverviewPage() {
  const begun = useQuery(hasBegunQuery)
  return (
    <Page title="Overview" about="Balance, usage and performance at a glance.">
      <MoneyTiles />
      <Loaded query={begun}>{(hasBegun) => (hasBegun ? <Lately /> : <FirstSteps />)}</Loaded>
    </Page>
  )
}

/** The measure shown by default: an account that used only free models has no spend. */
const measureOf = ({ time_series: series }: Metrics): Measure =>
  series.some(({ usage_cost: cost }) => cost > 0) ? 'cost' : 'requests'

function Lately() {
  const { period = '7d', measure } = route.useSearch()
  const navigate = route.useNavigate()
  const activity = useQuery(activityQuery(period))
  return (
    <Stack gap="md">
      <Group justify="space-between">
        <Title order={2} size="h4">
          {periodLabels[period]}
        </Title>
        <SegmentedControl
          aria-label="Period"
          data={periods.map((value) => ({ value, label: value }))}
          value={period}
          onChange={(next) => void navigate({ search: (now) => ({ ...now, period: next }) })}
        />
      </Group>
      <Loaded query={activity}>
        {({ metrics, stats }) => (
          <>
            <RequestTiles stats={stats} />
            <SimpleGrid cols={{ base: 1, lg: 2 }}>
              <Usage
                period={metrics.period}
                series={metrics.time_series}
                measure={measure ?? measureOf(metrics)}
                onMeasure={(next) =>
                  void navigate({ search: (now) => ({ ...now, measure: next }), replace: true })
                }
              />
              <TopModels models={metrics.by_model} />
            </SimpleGrid>
          </>
        )}
      </Loaded>
    </Stack>
  )
}
