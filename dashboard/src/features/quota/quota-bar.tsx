import { Button, Group, Progress, Stack, Text } from '@mantine/core'
import { count, percent } from '../../format/figures'
import { usd } from '../../format/money'
import { quotaNames, type MemberQuota, type Quota } from './queries'

const [warning, full] = [80, 100]

/** The color of a bar: orange from 80 percent on, red once the limit is reached. */
export function colorOf(percentage: number) {
  if (percentage >= full) return 'red'
  return percentage >= warning ? 'orange' : 'brand'
}

/** Formats a value in the unit of its limit. */
export const inUnit = (unit: Quota['unit'], value: number) =>
  unit === 'usd' ? usd(value) : count(value)

interface Props {
  quota: Quota
  onIncrease: () => void
}

/** One limit with its usage. */
export function QuotaBar({ quota, onIncrease }: Props) {
  const { type, unit, used, limit, percentage } = quota
  const resetsAt = type.endsWith('_per_minute') ? quota.resets_at : null
  const name = quotaNames[type]
  return (
    <Stack gap={6} role="group" aria-label={name}>
      <Group justify="space-between" gap="xs">
        <Text size="sm" fw={500}>
          {name}
          {type === 'monthly_spend' && ' of your credits'}
        </Text>
        <Text size="sm">
          {limit === null
            ? `${inUnit(unit, used)} used, no limit`
            : `${inUnit(unit, used)} of ${inUnit(unit, limit)}`}
        </Text>
      </Group>
      {limit !== null && (
        <>
          <Progress
            value={Math.min(full, percentage)}
            color={colorOf(percentage)}
            aria-label={`${percent(percentage)} of ${name.toLowerCase()}`}
          />
          <Group justify="space-between" gap="xs" wrap="nowrap">
            <Text size="xs" c="dimmed">
              {percent(percentage)} used
              {resetsAt !== null && ', resets within a minute'}
            </Text>
            <Button
              size="compact-xs"
              variant="subtle"
              onClick={onIncrease}
              flex="none"
              aria-label={`Request increase of ${name.toLowerCase()}`}
            >
              Request increase
            </Button>
          </Group>
        </>
      )}
    </Stack>
  )
}

/** The spending limit that an organization has for the account, with the rest of it. */
export function MemberQuotaBar({ quota }: { quota: MemberQuota }) {
  const { organization_name: organization, limit, used, remaining, percentage } = quota
  const name = `Spend of ${organization} for you this month`
  return (
    <Stack gap={6} role="group" aria-label={name}>
      <Group justify="space-between" gap="xs">
        <Text size="sm" fw={500}>
          {name}
        </Text>
        <Text size="sm">
          {limit === null ? `${usd(used)} used, no limit` : `${usd(used)} of ${usd(limit)}`}
        </Text>
      </Group>
      {limit !== null && (
        <Progress
          value={Math.min(full, percentage)}
          color={colorOf(percentage)}
          aria-label={`${percent(percentage)} of the spend of ${organization} for you`}
        />
      )}
      <Text size="xs" c="dimmed">
        {limit !== null && `${percent(percentage)} used, ${usd(remaining ?? 0)} left. `}
        {quota.funds_platform_models &&
          `${organization} pays for your requests to platform models.`}
      </Text>
    </Stack>
  )
}
