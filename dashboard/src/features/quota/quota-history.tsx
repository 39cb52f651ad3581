import { Group, Paper, Progress, SegmentedControl, Stack, Table, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { ListTable } from '../../components/list-table'
import { Money } from '../../components/money'
import { ResourceList } from '../../components/resource-list'
import { compact, count, percent } from '../../format/figures'
import { usd } from '../../format/money'
import { granularities } from '../../url/period'
import { historyOnPage, historyQuery, type UsagePeriod } from './queries'

const route = getRouteApi('/home/quota')
const labels = { day: 'By day', month: 'By month' } as const
// Days and months are in UTC.
const day = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' })
const month = new Intl.DateTimeFormat(undefined, {
  year: 'numeric',
  month: 'long',
  timeZone: 'UTC',
})

/** Usage of earlier periods. */
export function History() {
  const { granularity = 'day', page = 1 } = route.useSearch()
  const navigate = route.useNavigate()
  const query = useQuery(historyQuery({ granularity, page }))
  return (
    <Paper withBorder p="lg" component="section" aria-label="History">
      <Stack gap="sm">
        <Group justify="space-between">
          <Title order={2} size="h4">
            History
          </Title>
          <SegmentedControl
            size="xs"
            aria-label="Granularity"
            data={granularities.map((value) => ({ value, label: labels[value] }))}
            value={granularity}
            onChange={(next) =>
              void navigate({
                search: (now) => ({ ...now, granularity: next, page: undefined }),
                replace: true,
              })
            }
          />
        </Group>
        <ResourceList
          query={query}
          rows={({ history, pagination: { total } }) => ({ items: history, total })}
          plural={granularity === 'day' ? 'days' : 'months'}
          empty="No usage yet."
          paging={{
            page,
            onPage: (next) => void navigate({ search: (now) => ({ ...now, page: next }) }),
            size: historyOnPage,
          }}
        >
          {(history, { granularity: unit }) => (
            <HistoryTable history={history} format={unit === 'month' ? month : day} />
          )}
        </ResourceList>
      </Stack>
    </Paper>
  )
}

interface TableProps {
  history: readonly UsagePeriod[]
  format: Intl.DateTimeFormat
}

const HistoryTable = ({ history, format }: TableProps) => (
  <ListTable
    columns={[
      'Period',
      { name: 'Requests', isNumber: true },
      { name: 'Tokens', isNumber: true },
      { name: 'Spend', isNumber: true, position: 'aside' },
      { name: 'Peak per minute', isNumber: true },
      'Nearest limit',
    ]}
    minWidth={600}
  >
    {history.map((one) => (
      <Table.Tr key={one.date}>
        <Table.Td>
          <time dateTime={one.date} title={`${one.date} UTC`}>
            {format.format(new Date(one.date))}
          </time>
        </Table.Td>
        <Table.Td ta="right">{count(one.requests)}</Table.Td>
        <Table.Td ta="right">
          <span title={count(one.tokens)}>{compact(one.tokens)}</span>
        </Table.Td>
        <Table.Td ta="right">
          <Money amount={one.usage_cost} />
          {one.cost !== one.usage_cost && (
            <Text size="xs" c="dimmed">
              {usd(one.cost)} by your credits
            </Text>
          )}
        </Table.Td>
        <Table.Td ta="right">{count(one.peak_rpm)}</Table.Td>
        <Table.Td miw={120}>
          <Text size="xs">{percent(one.percentage)}</Text>
          <Progress
            size="xs"
            value={Math.min(100, one.percentage)}
            aria-label={`${percent(one.percentage)} of the nearest limit`}
          />
        </Table.Td>
      </Table.Tr>
    ))}
  </ListTable>
)
