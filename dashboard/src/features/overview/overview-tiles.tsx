import { Anchor, Badge, Group } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { balanceQuery, spendQuery, statsQuery } from '../billing/queries'
import { Loaded } from '../../components/loaded'
import { Money } from '../../components/money'
import { Tiles } from '../../components/tiles'
import { Tile } from '../../components/tile'
import { compact, count, duration, percent } from '../../format/figures'
import type { Period } from '../../url/period'

/** Balance and recent spend. */
export function MoneyTiles() {
  const balance = useQuery(balanceQuery())
  const spend = useQuery(spendQuery)
  return (
    <Tiles>
      <Loaded query={balance}>
        {({ balance: booked, held, warning_threshold: threshold }) => (
          <Tile
            label="Balance"
            value={
              <Group gap="xs">
                <Money amount={booked} />
                {booked < threshold && (
                  <Badge color="yellow" variant="filled">
                    low
                  </Badge>
                )}
              </Group>
            }
            hint={
              <>
                {held > 0 && (
                  <>
                    <Money amount={held} /> reserved for running requests.{' '}
                  </>
                )}
                <Anchor
                  size="xs"
                  underline="always"
                  renderRoot={(props) => <Link to="/billing" {...props} />}
                >
                  Add credits
                </Anchor>
              </>
            }
          />
        )}
      </Loaded>
      <Loaded query={spend}>
        {({ today }) => (
          <Tile label="Spent today" value={<Money amount={today} />} hint="Days in UTC" />
        )}
      </Loaded>
      <Loaded query={spend}>
        {({ month, nextMonth }) => (
          <Tile
            label="Spent this month"
            value={<Money amount={month} />}
            hint={
              <>
                Next 30 days at this pace: <Money amount={nextMonth} />
              </>
            }
          />
        )}
      </Loaded>
    </Tiles>
  )
}

/** The savings of prompt caching; negative while cache writes have cost more than cache reads saved. */
const CacheSavings = ({ amount }: { amount: number }) => (
  <>
    <Money amount={Math.abs(amount)} /> {amount < 0 ? 'added' : 'saved'} by prompt caching
  </>
)

/** Request statistics. */
export function RequestTiles({ period }: { period: Period }) {
  const query = useQuery(statsQuery(period))
  return (
    <Loaded query={query}>
      {(stats) => (
        <Tiles>
          <Tile
            label="Requests"
            value={count(stats.total_requests)}
            hint={`${count(stats.cancelled_requests)} cancelled`}
          />
          <Tile
            label="Error rate"
            value={percent(stats.success_rate === null ? null : 100 - stats.success_rate)}
            hint={`${count(stats.failed_requests)} failed`}
          />
          <Tile
            label="Latency"
            value={duration(stats.p50_latency_ms)}
            hint={`Median; 95% within ${duration(stats.p95_latency_ms)}`}
          />
          <Tile
            label="Time to first token"
            value={duration(stats.p50_time_to_first_token_ms)}
            hint={
              stats.p95_time_to_first_token_ms === null
                ? 'No streams in this period'
                : `Median of streams; 95% within ${duration(stats.p95_time_to_first_token_ms)}`
            }
          />
          <Tile
            label="Gateway overhead"
            value={duration(stats.avg_overhead_ms)}
            hint={`Mean; 95% within ${duration(stats.p95_overhead_ms)}`}
          />
          <Tile
            label="Tokens"
            value={<span title={count(stats.total_tokens)}>{compact(stats.total_tokens)}</span>}
            hint={`${compact(stats.input_tokens)} in, ${compact(stats.output_tokens)} out`}
          />
          <Tile
            label="Cache hit rate"
            value={percent(stats.cache_hit_rate)}
            hint={<CacheSavings amount={stats.cache_savings} />}
          />
        </Tiles>
      )}
    </Loaded>
  )
}
