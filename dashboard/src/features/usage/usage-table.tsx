import { Button, Group, Stack, Table, Text } from '@mantine/core'
import { ListTable } from '../../components/list-table'
import { Money } from '../../components/money'
import { compact, count, duration, percent } from '../../format/figures'
import { exportUsage, maxGroups, type Usage, type Used } from './queries'

interface Props {
  usage: Usage
  /** The name of a row, in the singular. */
  name: string
  /** The file name without its extension. */
  file: string
}

const days = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' })
const moments = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'short' })

function rangeOf({ start, end, isByDay }: Usage): string {
  const [from, to] = [new Date(start), new Date(end)]
  if (!isByDay) return moments.formatRange(from, to)
  // The end is the midnight after the last day.
  return `${days.formatRange(from, new Date(to.getTime() - 1))}, whole days in UTC`
}

/** Usage with a row per item, a total and a CSV export. */
export const UsageTable = ({ usage, name, file }: Props) => {
  const { rows } = usage
  const shows = {
    times: rows.some((row) => row.avg_latency_ms !== undefined),
    caches: rows.some((row) => row.cached_tokens !== undefined),
  }
  return (
    <Stack gap="sm">
      <Group justify="space-between">
        <Text size="sm" c="dimmed">
          {rangeOf(usage)}
        </Text>
        <Button size="xs" variant="default" onClick={() => exportUsage(file, rows)}>
          Export CSV
        </Button>
      </Group>
      <ListTable
        columns={[
          name,
          { name: 'Requests', isNumber: true },
          { name: 'Input tokens', isNumber: true },
          { name: 'Output tokens', isNumber: true },
          { name: 'Cost', isNumber: true, position: 'aside' },
          ...(shows.caches ? cacheColumns : []),
          ...(shows.times ? [{ name: 'Average latency', isNumber: true }] : []),
        ]}
        minWidth={shows.caches ? 800 : 640}
        foot={rows.length > 1 && <Sum rows={rows} shows={shows} />}
      >
        {rows.map((row) => (
          <UsageRow key={row.id} row={row} shows={shows} />
        ))}
      </ListTable>
      {rows.length >= maxGroups && (
        <Text size="sm" c="dimmed">
          Only the {count(maxGroups)} with the most requests are shown.
        </Text>
      )}
    </Stack>
  )
}

/** The optional columns of a table. */
interface Shows {
  times: boolean
  caches: boolean
}

const cacheColumns = [
  { name: 'Cache hits', isNumber: true },
  { name: 'Saved', isNumber: true },
]

type CacheUse = Pick<Used, 'input_tokens' | 'cached_tokens' | 'cache_savings_usd'>

/** The share of input tokens read from a prompt cache, and the savings. */
const Caches = ({
  input_tokens: input,
  cached_tokens: cached = 0,
  cache_savings_usd,
}: CacheUse) => (
  <>
    <Table.Td ta="right" title={count(cached)}>
      {percent(input === 0 ? null : (100 * cached) / input)}
    </Table.Td>
    <Table.Td ta="right">
      <Money amount={cache_savings_usd ?? 0} />
    </Table.Td>
  </>
)

const Figure = ({ value }: { value: number }) => (
  <Table.Td ta="right" title={count(value)}>
    {compact(value)}
  </Table.Td>
)

const UsageRow = ({ row, shows }: { row: Used; shows: Shows }) => (
  <Table.Tr>
    <Table.Td style={{ overflowWrap: 'anywhere' }}>
      {row.name}
      {row.about && (
        <Text size="xs" c="dimmed">
          {row.about}
        </Text>
      )}
    </Table.Td>
    <Table.Td ta="right">{count(row.requests)}</Table.Td>
    <Figure value={row.input_tokens} />
    <Figure value={row.output_tokens} />
    <Table.Td ta="right">
      <Money amount={row.cost_usd} />
    </Table.Td>
    {shows.caches && <Caches {...row} />}
    {shows.times && <Table.Td ta="right">{duration(row.avg_latency_ms ?? null)}</Table.Td>}
  </Table.Tr>
)

type Summed =
  | 'requests'
  | 'input_tokens'
  | 'output_tokens'
  | 'cost_usd'
  | 'cached_tokens'
  | 'cache_savings_usd'

function Sum({ rows, shows }: { rows: readonly Used[]; shows: Shows }) {
  const sumOf = (field: Summed) => rows.reduce((sum, row) => sum + (row[field] ?? 0), 0)
  return (
    <Table.Tr fw={600}>
      <Table.Td>Total</Table.Td>
      <Table.Td ta="right">{count(sumOf('requests'))}</Table.Td>
      <Figure value={sumOf('input_tokens')} />
      <Figure value={sumOf('output_tokens')} />
      <Table.Td ta="right">
        <Money amount={sumOf('cost_usd')} />
      </Table.Td>
      {shows.caches && (
        <Caches
          input_tokens={sumOf('input_tokens')}
          cached_tokens={sumOf('cached_tokens')}
          cache_savings_usd={sumOf('cache_savings_usd')}
        />
      )}
      {shows.times && <Table.Td />}
    </Table.Tr>
  )
}
