import { BarChart } from '@mantine/charts'

export interface Point {
  label: string
  value: number
}

interface Props {
  points: Point[]
  /** The name of the values. */
  name: string
  format: (value: number) => string
}

/** A chart of totals over time. Decorative: the page that shows it also has the figures in a table. */
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
