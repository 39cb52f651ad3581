import { Box, Progress, Stack, Text } from '@mantine/core'
import { percent } from '../../format/figures'
import { colorOf, inUnit } from '../quota/quota-bar'
import { scaleBar } from './percents'
import { shareOf, type Budget } from './queries'

const markWidth = 2

/** The use and the remainder of a budget, on a bar with marks at the percents of which it notifies. */
export function BudgetBar({ budget }: { budget: Budget }) {
  const { unit, used, amount_in_force: amount, remaining, name, notify_percents: percents } = budget
  const share = shareOf(budget)
  const { filled, marks } = scaleBar(share, percents)
  return (
    <Stack gap={4}>
      <Text size="sm">
        {inUnit(unit, used)} of {inUnit(unit, amount)}
        {unit === 'tokens' && ' tokens'}
      </Text>
      <Box pos="relative">
        <Progress
          value={filled}
          color={colorOf(share)}
          aria-label={`${percent(share)} of ${name}`}
        />
        {marks.map((mark) => (
          <Mark key={mark.percent} {...mark} />
        ))}
      </Box>
      <Text size="xs" c="dimmed">
        {inUnit(unit, remaining)} left
      </Text>
    </Stack>
  )
}

/** A mark across the bar; the percents stand beside it in words. */
const Mark = ({ percent: value, position }: { percent: number; position: number }) => (
  <Box
    pos="absolute"
    top={-2}
    bottom={-2}
    w={markWidth}
    left={`calc(${position}% - ${markWidth}px * ${position / 100})`}
    bg="var(--mantine-color-text)"
    title={`${value}%`}
    aria-hidden
  />
)
