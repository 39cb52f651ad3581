import { Group, SimpleGrid, Stack } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Loaded } from '../../../components/loaded'
import { Money } from '../../../components/money'
import { Page } from '../../../components/page'
import { Tile } from '../../../components/tile'
import { Tiles } from '../../../components/tiles'
import { compact, count, duration, percent } from '../../../format/figures'
import type { Measure } from '../../../url/period'
import { Usage } from '../../overview/recent-usage'
import { TopModels } from '../../overview/top-models'
import { PeriodControl } from '../../usage/period-control'
import { Attention } from './attention'
import {
  describeChange,
  describeMargin,
  describePayers,
  describeUncosted,
  installationUsageQuery,
  type InstallationUsage,
} from './queries'
import { AccountTable, ModelTable, ProviderTable } from './usage-tables'

const route = getRouteApi('/home/operator/overview')

/** The usage of all accounts, and what needs attention. */
export function OperatorOverviewPage() {
  const { period = '24h', measure } = route.useSearch()
  const navigate = route.useNavigate()
  const query = useQuery(installationUsageQuery(period))
  return (
    <Page title="Installation overview" about="Traffic, errors, spend and margin of all accounts.">
      <Attention />
      <Group>
        <PeriodControl
          value={period}
          onChange={(next) => void navigate({ search: (now) => ({ ...now, period: next }) })}
        />
      </Group>
      <Loaded query={query}>
        {(usage) => (
          <Figures
            usage={usage}
            measure={measure ?? (usage.summary.cost > 0 ? 'cost' : 'requests')}
            onMeasure={(next) =>
              void navigate({ search: (now) => ({ ...now, measure: next }), replace: true })
            }
          />
        )}
      </Loaded>
    </Page>
  )
}

interface FiguresProps {
  usage: InstallationUsage
  measure: Measure
  onMeasure: (measure: Measure) => void
}

const Figures = ({ usage, measure, onMeasure }: FiguresProps) => (
  <Stack gap="md">
    <SummaryTiles usage={usage} />
    <SimpleGrid cols={{ base: 1, lg: 2 }}>
      <Usage
        period={usage.period}
        series={usage.time_series.map((one) => ({
          timestamp: one.timestamp,
          requests: one.requests,
          tokens: one.input_tokens + one.output_tokens,
          usage_cost: one.cost,
        }))}
        measure={measure}
        onMeasure={onMeasure}
      />
      <TopModels
        models={usage.by_model.map(({ cost, ...one }) => ({
          ...one,
          usage_cost: cost,
          usage_percentage: usage.summary.cost === 0 ? null : (cost / usage.summary.cost) * 100,
        }))}
      />
    </SimpleGrid>
    <ModelTable models={usage.by_model} />
    <ProviderTable providers={usage.by_provider} />
    <AccountTable accounts={usage.by_account} />
  </Stack>
)

function SummaryTiles({ usage: { summary, by_payer: payers } }: { usage: InstallationUsage }) {
  const { success_rate: successRate, input_tokens: input, output_tokens: output } = summary
  return (
    <Tiles>
      <Tile
        label="Requests"
        value={count(summary.requests)}
        hint={describeChange(summary.requests, summary.previous_requests)}
      />
      <Tile
        label="Error rate"
        value={percent(successRate === null ? null : 100 - successRate)}
        hint={`${count(summary.failed_requests)} failed, ${count(summary.cancelled_requests)} cancelled`}
      />
      <Tile
        label="Spend"
        value={<Money amount={summary.cost} />}
        hint={describeChange(summary.cost, summary.previous_cost)}
      />
      <Tile
        label="Paid by accounts"
        value={<Money amount={payers.personal + payers.organization} />}
        hint={describePayers(payers)}
      />
      <Tile
        label="Provider cost"
        value={<Money amount={summary.provider_cost} />}
        hint={describeUncosted(summary.uncosted_requests)}
      />
      <Tile
        label="Margin"
        value={<Money amount={summary.margin} />}
        hint={describeMargin(summary)}
      />
      <Tile
        label="Active accounts"
        value={count(summary.active_accounts)}
        hint="With a request in this period"
      />
      <Tile
        label="Tokens"
        value={<span title={count(input + output)}>{compact(input + output)}</span>}
        hint={`${compact(input)} in, ${compact(output)} out`}
      />
      <Tile
        label="Latency"
        value={duration(summary.avg_latency_ms)}
        hint="Mean of successful requests"
      />
    </Tiles>
  )
}
