import { Paper, SimpleGrid, Text } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { Loaded } from '../../components/loaded'
import type { LogStats } from './queries'
import { count, duration, percent } from '../../format/figures'
import { usd } from '../../format/money'
import { describePaid } from '../../format/payer'
import { plainName } from '../../format/plain-name'

const none = '–'

interface SumProps {
  name: string
  value: string
  about?: string | undefined
}

const Sum = ({ name, value, about }: SumProps) => (
  <div>
    <Text size="xs" c="dimmed">
      {name}
    </Text>
    <Text fw={600}>{value}</Text>
    {about && (
      <Text size="xs" c="dimmed">
        {about}
      </Text>
    )}
  </div>
)

/** The totals of the filtered requests. */
export const LogSums = ({ query }: { query: UseQueryResult<LogStats> }) => (
  <Paper withBorder p="md" component="section" aria-label="Totals">
    <Loaded query={query}>
      {(stats) => (
        <SimpleGrid minColWidth="130px">
          <Sum
            name="Requests"
            value={count(stats.total_requests)}
            {...(stats.cancelled_requests > 0 && {
              about: `${count(stats.cancelled_requests)} cancelled`,
            })}
          />
          <Sum
            name="Succeeded"
            value={stats.success_rate === null ? none : percent(stats.success_rate)}
            {...(stats.failed_requests > 0 && {
              about: `${count(stats.failed_requests)} failed`,
            })}
          />
          <Sum
            name="Tokens"
            value={count(stats.total_tokens)}
            about={`${count(stats.input_tokens)} in, ${count(stats.output_tokens)} out`}
          />
          <Sum name="Cost" value={usd(stats.total_cost)} about={describePaid(stats.by_payer)} />
          {stats.cached_tokens > 0 && (
            <Sum
              name="Cache hit rate"
              value={percent(stats.cache_hit_rate)}
              about={`${usd(stats.cache_savings)} saved`}
            />
          )}
          <Sum
            name="Median duration"
            value={stats.p50_latency_ms === null ? none : duration(stats.p50_latency_ms)}
            {...(stats.p95_latency_ms !== null && {
              about: `95% within ${duration(stats.p95_latency_ms)}`,
            })}
          />
          {stats.p50_time_to_first_token_ms !== null && (
            <Sum
              name="Time to first token"
              value={duration(stats.p50_time_to_first_token_ms)}
              {...(stats.p95_time_to_first_token_ms !== null && {
                about: `95% within ${duration(stats.p95_time_to_first_token_ms)}`,
              })}
            />
          )}
          {stats.by_error[0] && (
            <Sum
              name="Top error"
              value={plainName(stats.by_error[0].code)}
              about={`${count(stats.by_error[0].count)} times`}
            />
          )}
        </SimpleGrid>
      )}
    </Loaded>
  </Paper>
)
