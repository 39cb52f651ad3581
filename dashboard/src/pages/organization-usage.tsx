import { SegmentedControl, Stack, Table, Text } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { api } from '../api'
import { Empty } from '../components/empty'
import { Loaded } from '../components/loaded'
import { countOf, usdOf } from '../numbers'

const groups = [
  { value: 'user', label: 'Member' },
  { value: 'model', label: 'Model' },
  { value: 'department', label: 'Department' },
] as const

const days = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeZone: 'UTC' })

interface Props {
  id: string
  by: string
  onBy: (by: string) => void
}

/** What was used in the last 30 days. */
export function OrganizationUsage({ id, by, onBy }: Props) {
  const group = groups.find(({ value }) => value === by) ?? groups[0]
  const query = useQuery({
    queryKey: ['organizations', id, 'usage', group.value],
    queryFn: async () => {
      const asked = { param: { id }, query: { group_by: group.value } }
      const answer = await api.organizations[':id'].usage.$get(asked)
      const { period, usage } = await answer.json()
      return { period, rows: rowsOf(usage) }
    },
  })
  return (
    <Stack gap="sm">
      <SegmentedControl
        aria-label="Usage by"
        data={[...groups]}
        value={group.value}
        onChange={onBy}
        w="fit-content"
      />
      <Loaded query={query}>
        {({ period, rows }) =>
          rows.length === 0 ? (
            <Empty title="Nothing was used yet">
              What members call through this organization is counted here, by day and by who called.
            </Empty>
          ) : (
            <>
              <Text size="sm" c="dimmed">
                {days.formatRange(new Date(period.start), new Date(Date.parse(period.end) - 1))},
                UTC. Cost at catalogue prices, whoever paid.
              </Text>
              <UsageTable name={group.label} rows={rows} />
            </>
          )
        }
      </Loaded>
    </Stack>
  )
}

interface Row {
  key: string
  name: string
  about?: string | null
  requests: number
  input_tokens: number
  output_tokens: number
  cost_usd: number
  avg_latency_ms: number | null
}

type UsageAnswer = Awaited<
  ReturnType<Awaited<ReturnType<(typeof api.organizations)[':id']['usage']['$get']>>['json']>
>

function rowsOf(usage: UsageAnswer['usage']): Row[] {
  if ('by_user' in usage) {
    return usage.by_user.map((one) => ({
      ...one,
      key: one.user_id,
      name: one.display_name ?? 'Somebody who left',
      about: one.email,
    }))
  }
  if ('by_model' in usage) {
    return usage.by_model.map((one) => ({ ...one, key: one.model, name: one.model }))
  }
  return usage.by_department.map((one) => ({
    ...one,
    key: one.department ?? '',
    name: one.department ?? 'No department',
  }))
}

const UsageTable = ({ name, rows }: { name: string; rows: readonly Row[] }) => (
  <Table.ScrollContainer minWidth={640}>
    <Table verticalSpacing="sm">
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{name}</Table.Th>
          <Table.Th ta="right">Requests</Table.Th>
          <Table.Th ta="right">Tokens in</Table.Th>
          <Table.Th ta="right">Tokens out</Table.Th>
          <Table.Th ta="right">Cost</Table.Th>
          <Table.Th ta="right">Average time</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map((row) => (
          <Table.Tr key={row.key}>
            <Table.Td>
              {row.name}
              {row.about && (
                <Text size="xs" c="dimmed">
                  {row.about}
                </Text>
              )}
            </Table.Td>
            <Table.Td ta="right">{countOf(row.requests)}</Table.Td>
            <Table.Td ta="right">{countOf(row.input_tokens)}</Table.Td>
            <Table.Td ta="right">{countOf(row.output_tokens)}</Table.Td>
            <Table.Td ta="right">{usdOf(row.cost_usd)}</Table.Td>
            <Table.Td ta="right">
              {row.avg_latency_ms === null ? '–' : `${countOf(row.avg_latency_ms)} ms`}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  </Table.ScrollContainer>
)
