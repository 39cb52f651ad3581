import { Anchor, Badge, Group } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { balanceQuery, spendQuery, type Balance, type Stats } from '../billing/queries'
import { Loaded } from '../../components/loaded'
import { Money } from '../../components/money'
import { Tiles } from '../../components/tiles'
import { Tile } from '../../components/tile'
import { compact, count, duration, percent } from '../../format/figures'
import { usd } from '../../format/money'
import { describePaid } from '../../format/payer'
import { quotaQuery, type MemberQuota } from '../quota/queries'

const refetchInterval = 60_000

/** Balance, recent spend, and what organizations spend for the account. */
export function MoneyTiles() {
  const balance = useQuery(balanceQuery())
  const spend = useQuery(spendQuery)
  const { data: quota } = useQuery({ ...quotaQuery, refetchInterval })
  return (
    <Tiles>
      <Loaded query={balance}>{(data) => <BalanceTile balance={data} />}</Loaded>
      <Loaded query={spend}>
        {({ today }) => (
          <Tile label="Spent today" value={<Money amount={today} />} hint="Days in UTC" />
        )}
      </Loaded>
      <Loaded query={spend}>
        {({ month, nextMonth, paid }) => (
          <Tile
            label="Spent this month"
            value={<Money amount={month} />}
            hint={
              <>
                {describePaid(paid) !== undefined && `${describePaid(paid)}. `}
                Next 30 days at this pace: <Money amount={nextMonth} />
              </>
            }
          />
        )}
      </Loaded>
      {quota?.organizations
        .filter(({ limit, used }) => limit !== null || used > 0)
        .map((one) => (
          <OrganizationTile key={one.organization_id} quota={one} />
        ))}
    </Tiles>
  )
}

function BalanceTile({ balance: one }: { balance: Balance }) {
  const { balance: booked, held, warning_threshold: threshold, funding_source: source } = one
  if (!one.is_charged) return <NotCharged balance={booked} />
  const isFunded = source === 'organization'
  return (
    <Tile
      label="Balance"
      value={
        <Group gap="xs">
          <Money amount={booked} />
          {booked < threshold && !isFunded && (
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
          {isFunded && 'An organization pays for platform models. '}
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
  )
}

/** Of an account whose requests the platform pays. */
const NotCharged = ({ balance }: { balance: number }) => (
  <Tile
    label="Charges"
    value="None"
    hint={
      <>
        The platform pays for your requests.
        {balance > 0 && (
          <>
            {' '}
            Your balance of <Money amount={balance} /> is not used.
          </>
        )}
      </>
    }
  />
)

/** The spending of an organization for the account, and the rest of its limit. */
const OrganizationTile = ({
  quota: { organization_name: name, used, limit, remaining },
}: {
  quota: MemberQuota
}) => (
  <Tile
    label={`Spent for you by ${name}`}
    value={<Money amount={used} />}
    hint={
      limit === null
        ? 'This month; you have no limit there'
        : `This month; ${usd(remaining ?? 0)} of ${usd(limit)} left`
    }
  />
)

/** The savings of prompt caching; negative while cache writes have cost more than cache reads saved. */
const CacheSavings = ({ amount }: { amount: number }) => (
  <>
    <Money amount={Math.abs(amount)} /> {amount < 0 ? 'added' : 'saved'} by prompt caching
  </>
)

/** Request statistics. */
export const RequestTiles = ({ stats }: { stats: Stats }) => (
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
)
