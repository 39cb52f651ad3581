import { Paper, SimpleGrid, Text } from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import { Loaded } from '../components/loaded'
import type { LogStats } from '../logs'
import { shownCount, shownDuration, shownName, shownPercent, shownUsd } from '../shown'

const none = '–'

const Sum = ({ name, value, about }: { name: string; value: string; about?: string }) => (
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

/** What the requests that fit come to. */
export const LogSums = ({ query }: { query: UseQueryResult<LogStats> }) => (
  <Paper withBorder p="md" component="section" aria-label="Sums">
    <Loaded query={query}>
      {(stats) => (
        <SimpleGrid minColWidth="130px">
          <Sum
            name="Requests"
            value={shownCount(stats.total_requests)}
            {...(stats.cancelled_requests > 0 && {
              about: `${shownCount(stats.cancelled_requests)} cancelled`,
            })}
          />
          <Sum
            name="Succeeded"
            value={stats.success_rate === null ? none : shownPercent(stats.success_rate)}
            {...(stats.failed_requests > 0 && {
              about: `${shownCount(stats.failed_requests)} failed`,
            })}
          />
          <Sum
            name="Tokens"
            value={shownCount(stats.total_tokens)}
            about={`${shownCount(stats.input_tokens)} in, ${shownCount(stats.output_tokens)} out`}
          />
          <Sum name="Cost" value={shownUsd(stats.total_cost)} />
          <Sum
            name="Took, as a rule"
            value={stats.p50_latency_ms === null ? none : shownDuration(stats.p50_latency_ms)}
            {...(stats.p95_latency_ms !== null && {
              about: `95 % within ${shownDuration(stats.p95_latency_ms)}`,
            })}
          />
          {stats.p50_time_to_first_token_ms !== null && (
            <Sum
              name="First token after"
              value={shownDuration(stats.p50_time_to_first_token_ms)}
              {...(stats.p95_time_to_first_token_ms !== null && {
                about: `95 % within ${shownDuration(stats.p95_time_to_first_token_ms)}`,
              })}
            />
          )}
          {stats.by_error[0] && (
            <Sum
              name="Most frequent error"
              value={shownName(stats.by_error[0].code)}
              about={`${shownCount(stats.by_error[0].count)} times`}
            />
          )}
        </SimpleGrid>
      )}
    </Loaded>
  </Paper>
)
