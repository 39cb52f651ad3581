import {
  Button,
  Group,
  Paper,
  SegmentedControl,
  Select,
  Skeleton,
  Stack,
  Switch,
  Text,
} from '@mantine/core'
import type { UseQueryResult } from '@tanstack/react-query'
import type { ReactNode } from 'react'
import { allRows } from '../../api/paging'
import { DayInputs } from '../../components/day-inputs'
import { Filters } from '../../components/filters'
import { lazyPart } from '../../components/lazy-part'
import { ResourceList } from '../../components/resource-list'
import { compact } from '../../format/figures'
import { usd } from '../../format/money'
import {
  explorerMeasures,
  intervals,
  type Dimension,
  type ExplorerMeasure,
  type ExplorerSearch,
  type Interval,
} from '../../url/explorer'
import { measures } from '../../url/period'
import { BreakdownTable } from './breakdown-table'
import { FilterList } from './filter-list'
import {
  exportBreakdown,
  marginIn,
  titleOf,
  toChart,
  type Breakdown,
  type Question,
} from './queries'
import { listPresets, type Span } from './span'

// The charts are more than half of the dashboard's code: the figures do not wait for them.
const StackedChart = lazyPart(
  async () => (await import('./stacked-chart')).StackedChart,
  <Skeleton height={300} />,
)

const dimensionNames: Readonly<Record<Dimension, string>> = {
  model: 'Model',
  provider: 'Provider',
  key: 'API key',
  tag: 'Tags',
  member: 'Member',
  department: 'Department',
  account: 'Account',
}
const intervalNames: Readonly<Record<Interval, string>> = {
  hour: 'Hours',
  day: 'Days',
  week: 'Weeks',
  month: 'Months',
}
const measureNames: Readonly<Record<ExplorerMeasure, string>> = {
  cost: 'Spend',
  requests: 'Requests',
  tokens: 'Tokens',
  // Short: five of them fit on a phone.
  provider_cost: 'Cost',
  margin: 'Margin',
}

const optionsOf = <Name extends string>(names: readonly Name[], labels: Record<Name, string>) =>
  names.map((value) => ({ value, label: labels[value] }))

interface Props {
  question: Question
  available: readonly Dimension[]
  query: UseQueryResult<Breakdown>
  measure: ExplorerMeasure
  onSearch: (changed: ExplorerSearch) => void
  /** Saved views, after the choices. */
  views?: ReactNode
  /** Selects whose usage is shown, before the other choices. */
  children?: ReactNode
}

/** Usage by one or two groupings, as a chart and a table. */
export function Explorer({ question, available, query, measure, onSearch, ...parts }: Props) {
  return (
    <Stack gap="md">
      <Choices question={question} available={available} onSearch={onSearch}>
        {parts.children}
      </Choices>
      <Presets span={question.span} onSearch={onSearch} />
      <Group gap="md" align="end">
        <Switch
          label="Compare with the days before"
          checked={question.compare !== undefined}
          onChange={(event) =>
            onSearch({ compare: event.currentTarget.checked ? 'previous' : undefined })
          }
        />
        {parts.views}
      </Group>
      <FilterList filter={question.filter} names={dimensionNames} onSearch={onSearch} />
      <ResourceList
        query={query}
        rows={({ groups }) => allRows(groups)}
        plural="requests"
        empty={{
          title: 'No usage in this period',
          text: 'Requests are counted as soon as they end.',
        }}
      >
        {(_, breakdown) => (
          <Stack gap="md">
            <ChartOf
              breakdown={breakdown}
              question={question}
              measure={measure}
              onMeasure={(next) => onSearch({ measure: next })}
            />
            <BreakdownTable
              breakdown={breakdown}
              names={dimensionNames}
              question={question}
              available={available}
              onSearch={onSearch}
            />
          </Stack>
        )}
      </ResourceList>
    </Stack>
  )
}

type ChoicesProps = Pick<Props, 'question' | 'available' | 'onSearch' | 'children'>

function Choices({ question, available, onSearch, children }: ChoicesProps) {
  const { by, split, every, span } = question
  const none = 'none'
  const find = (value: string | null) => available.find((name) => name === value)
  return (
    <Filters>
      {children}
      <DayInputs days={span} onChange={onSearch} />
      <Select
        label="Group by"
        allowDeselect={false}
        data={optionsOf(available, dimensionNames)}
        value={by}
        onChange={(value) => {
          const next = find(value)
          onSearch({ by: next, ...(next === split && { split: undefined }) })
        }}
      />
      <Select
        label="Then by"
        allowDeselect={false}
        data={[
          { value: none, label: 'Nothing' },
          ...optionsOf(
            available.filter((name) => name !== by),
            dimensionNames,
          ),
        ]}
        value={split ?? none}
        onChange={(value) => onSearch({ split: find(value) })}
      />
      <Select
        label="Over"
        allowDeselect={false}
        data={optionsOf(intervals, intervalNames)}
        value={every}
        onChange={(value) => onSearch({ every: intervals.find((name) => name === value) })}
      />
    </Filters>
  )
}

function Presets({ span, onSearch }: { span: Span; onSearch: Props['onSearch'] }) {
  return (
    <Group gap="xs">
      {listPresets(Date.now(), span.zone).map(({ name, from, to }) => (
        <Button
          key={name}
          size="compact-sm"
          variant={span.from === from && span.to === to ? 'light' : 'subtle'}
          aria-pressed={span.from === from && span.to === to}
          onClick={() => onSearch({ from, to, every: undefined })}
        >
          {name}
        </Button>
      ))}
      <Text size="sm" c="dimmed">
        Days in {span.zone.replaceAll('_', ' ')}
      </Text>
    </Group>
  )
}

interface ChartProps {
  breakdown: Breakdown
  question: Question
  measure: ExplorerMeasure
  onMeasure: (measure: ExplorerMeasure) => void
}

function ChartOf({ breakdown, question, measure, onMeasure }: ChartProps) {
  const { by, split, every } = question
  const labels = new Intl.DateTimeFormat(undefined, {
    timeZone: breakdown.period.time_zone,
    ...(every === 'month'
      ? { month: 'short', year: 'numeric' }
      : { month: 'short', day: 'numeric' }),
    ...(every === 'hour' && { hour: 'numeric' }),
  })
  const chart = toChart(breakdown, measure, {
    title: (group) => titleOf(group, by, split),
    label: (start) => labels.format(new Date(start)),
  })
  return (
    <Paper withBorder p="md" component="section" aria-label="Usage over time" miw={0}>
      <Stack gap="sm">
        <Group justify="space-between">
          <SegmentedControl
            size="xs"
            aria-label="Measure"
            data={optionsOf(marginIn(breakdown.total) ? explorerMeasures : measures, measureNames)}
            value={measure}
            onChange={onMeasure}
          />
          <Button size="xs" variant="default" onClick={() => exportBreakdown(breakdown, question)}>
            Export CSV
          </Button>
        </Group>
        <StackedChart
          chart={chart}
          format={measure === 'requests' || measure === 'tokens' ? compact : usd}
        />
      </Stack>
    </Paper>
  )
}
