import { Group, Progress, Stack, Text } from '@mantine/core'
import { Money } from '../../components/money'
import { percent } from '../../format/figures'
import { usd } from '../../format/money'
import type { Key } from './queries'

const [warning, full] = [80, 100]

function colorOf(percentage: number) {
  if (percentage >= full) return 'red'
  return percentage >= warning ? 'orange' : 'brand'
}

/** The spending of a key today and this month, and how much of its monthly limit that is. */
export function KeySpending({ one }: { one: Key }) {
  const { name, monthly_spend_limit: limit, usage } = one
  const { spend_this_month: spent, spend_today: today } = usage
  const percentage = limit === null ? null : limit === 0 ? full : (spent / limit) * full
  return (
    <Stack gap={4} miw={150} maw={240}>
      <Group gap={4} justify="space-between" wrap="nowrap">
        <Text size="sm">
          <Money amount={spent} />
          {limit !== null && ` of ${usd(limit)}`}
        </Text>
        {percentage !== null && (
          <Text size="xs" c="dimmed">
            {percent(Math.round(percentage))}
          </Text>
        )}
      </Group>
      {percentage !== null && (
        <Progress
          value={Math.min(full, percentage)}
          color={colorOf(percentage)}
          aria-label={`Monthly spending of ${name}: ${percent(Math.round(percentage))} of its limit`}
        />
      )}
      <Text size="xs" c="dimmed">
        <Money amount={today} /> today
      </Text>
    </Stack>
  )
}
