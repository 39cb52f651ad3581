import { Button, Group, Stack, Table, Text } from '@mantine/core'
import { ListTable } from './list-table'
import { Money } from './money'
import { compact, count, duration } from '../figures'
import { exportUsage, mostGroups, type Usage, type Used } from '../usage'

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
  const hasTimes = rows.some((row) => row.avg_latency_ms !== undefined)
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
          { name: 'Cost', isNumber: true, place: 'aside' },
          ...(hasTimes ? [{ name: 'Average latency', isNumber: true }] : []),
        ]}
        minWidth={640}
        foot={rows.length > 1 && <Sum rows={rows} hasTimes={hasTimes} />}
      >
        {rows.map((row) => (
          <UsageRow key={row.id} row={row} hasTimes={hasTimes} />
        ))}
      </ListTable>
      {rows.length >= mostGroups && (
        <Text size="sm" c="dimmed">
          Only the {count(mostGroups)} with the most requests are shown.
        </Text>
      )}
    </Stack>
  )
}

const Figure = ({ value }: { value: number }) => (
  <Table.Td ta="right" title={count(value)}>
    {compact(value)}
  </Table.Td>
)

const UsageRow = ({ row, hasTimes }: { row: Used; hasTimes: boolean }) => (
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
    {hasTimes && <Table.Td ta="right">{duration(row.avg_latency_ms ?? null)}</Table.Td>}
  </Table.Tr>
)

type Summed = 'requests' | 'input_tokens' | 'output_tokens' | 'cost_usd'

function Sum({ rows, hasTimes }: { rows: readonly Used[]; hasTimes: boolean }) {
  const sumOf = (field: Summed) => rows.reduce((sum, row) => sum + row[field], 0)
  return (
    <Table.Tr fw={600}>
      <Table.Td>Total</Table.Td>
      <Table.Td ta="right">{count(sumOf('requests'))}</Table.Td>
      <Figure value={sumOf('input_tokens')} />
      <Figure value={sumOf('output_tokens')} />
      <Table.Td ta="right">
        <Money amount={sumOf('cost_usd')} />
      </Table.Td>
      {hasTimes && <Table.Td />}
    </Table.Tr>
  )
}
