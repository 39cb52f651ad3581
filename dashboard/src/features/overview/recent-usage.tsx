import {
  Button,
  Group,
  Paper,
  SegmentedControl,
  Skeleton,
  Stack,
  Table,
  Title,
} from '@mantine/core'
import { useDisclosure } from '@mantine/hooks'
import { lazyPart } from '../../components/lazy-part'
import { compact, count } from '../../format/figures'
import { usd } from '../../format/money'
import { measures, type Measure } from '../../url/period'

// The charts are more than half of the dashboard's code: the figures do not wait for them.
const UsageChart = lazyPart(
  async () => (await import('../usage/usage-chart')).UsageChart,
  <Skeleton height={260} />,
)

const labels: Readonly<Record<Measure, string>> = {
  cost: 'Spend',
  requests: 'Requests',
  tokens: 'Tokens',
}

const dayMs = 86_400_000
const hour = new Intl.DateTimeFormat(undefined, { hour: 'numeric', minute: '2-digit' })
// Days in UTC.
const day = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', timeZone: 'UTC' })

/** The usage of an interval. */
interface UsagePoint {
  timestamp: string
  requests: number
  tokens: number
  /** USD. */
  usage_cost: number
}

interface Props {
  period: { start: string; end: string }
  series: readonly UsagePoint[]
  measure: Measure
  onMeasure: (measure: Measure) => void
}

/** Usage over time, as a chart or as a table. */
export function Usage({ period, series, measure, onMeasure }: Props) {
  const [hasNumbers, { toggle }] = useDisclosure()
  const isByHour = Date.parse(period.end) - Date.parse(period.start) < 2 * dayMs
  const label = (at: string) => (isByHour ? hour : day).format(new Date(at))
  const points = series.map((one) => ({
    label: label(one.timestamp),
    value: measure === 'cost' ? one.usage_cost : one[measure],
  }))
  return (
    <Paper withBorder p="md" component="section" aria-label="Usage over time" miw={0}>
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={3} size="h4">
            Usage
          </Title>
          <SegmentedControl
            size="xs"
            aria-label="Measure"
            data={measures.map((value) => ({ value, label: labels[value] }))}
            value={measure}
            onChange={onMeasure}
          />
        </Group>
        {hasNumbers ? (
          <Numbers series={series} label={label} />
        ) : (
          <UsageChart
            points={points}
            name={labels[measure]}
            format={measure === 'cost' ? usd : compact}
          />
        )}
        <Group justify="flex-end">
          <Button size="compact-sm" variant="subtle" onClick={toggle}>
            {hasNumbers ? 'Show chart' : 'Show table'}
          </Button>
        </Group>
      </Stack>
    </Paper>
  )
}

interface NumbersProps {
  series: readonly UsagePoint[]
  label: (at: string) => string
}

const Numbers = ({ series, label }: NumbersProps) => (
  <Table.ScrollContainer minWidth={320} maxHeight={260}>
    <Table>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>From</Table.Th>
          <Table.Th ta="right">Spend</Table.Th>
          <Table.Th ta="right">Requests</Table.Th>
          <Table.Th ta="right">Tokens</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {series.map(({ timestamp, usage_cost: cost, requests, tokens }) => (
          <Table.Tr key={timestamp}>
            <Table.Td>
              <time dateTime={timestamp} title={timestamp}>
                {label(timestamp)}
              </time>
            </Table.Td>
            <Table.Td ta="right">{usd(cost)}</Table.Td>
            <Table.Td ta="right">{count(requests)}</Table.Td>
            <Table.Td ta="right">{count(tokens)}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  </Table.ScrollContainer>
)
