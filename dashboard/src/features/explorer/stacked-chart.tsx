import { BarChart } from '@mantine/charts'
import type { Chart } from './queries'

interface Props {
  chart: Chart
  format: (value: number) => string
}

const colors = ['brand.6', 'teal.5', 'orange.5', 'grape.5', 'lime.6', 'indigo.5', 'pink.5']

/** Bars of groups over time. Decorative: the page that shows it has the figures in a table. */
export const StackedChart = ({ chart, format }: Props) => (
  <BarChart
    h={300}
    type="stacked"
    data={chart.bars}
    dataKey="label"
    series={chart.series.map(({ name, label }, index) => ({
      name,
      label,
      color: name === 'others' ? 'gray.5' : (colors[index] ?? 'gray.5'),
    }))}
    withLegend
    valueFormatter={format}
    yAxisProps={{ width: 72 }}
    xAxisProps={{ minTickGap: 24 }}
    // A margin below zero is drawn below the axis.
    barChartProps={{ accessibilityLayer: false, stackOffset: 'sign' }}
    barProps={{ isAnimationActive: false }}
    maxBarWidth={48}
    aria-hidden
  />
)
