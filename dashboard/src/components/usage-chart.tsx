import { BarChart } from '@mantine/charts'

export interface Point {
  label: string
  value: number
}

interface Props {
  points: Point[]
  /** What the values are. */
  name: string
  format: (value: number) => string
}

/** Sums over time. For the eye only: whoever shows it also has its numbers in a table. */
export const UsageChart = ({ points, name, format }: Props) => (
  <BarChart
    h={260}
    data={points}
    dataKey="label"
    series={[{ name: 'value', label: name, color: 'brand.6' }]}
    valueFormatter={format}
    yAxisProps={{ width: 72 }}
    xAxisProps={{ minTickGap: 24 }}
    barChartProps={{ accessibilityLayer: false }}
    barProps={{ isAnimationActive: false }}
    maxBarWidth={48}
    aria-hidden
  />
)
