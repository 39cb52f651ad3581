import { Table, Text, Title } from '@mantine/core'
import { duration, percent, speed } from '../../format/figures'
import type { Model } from './queries'

/** The measurements of a model with their labels. */
export const measures = [
  ['Latency', ({ latency_ms: ms }) => duration(ms)],
  ['Time to first token', ({ first_token_ms: ms }) => duration(ms)],
  ['Speed', ({ tokens_per_second: tokens }) => speed(tokens)],
  ['Uptime', ({ uptime_percent: share }) => percent(share)],
] as const satisfies readonly (readonly [
  string,
  (performance: NonNullable<Model['performance']>) => string,
])[]

/** The measurements of a model on this installation. */
export const ModelMeasures = ({ model: { performance } }: { model: Model }) => (
  <section aria-label="Measured here">
    <Title order={3} size="h4" mb={4}>
      Measured here
    </Title>
    <Text size="xs" c="dimmed" mb="xs">
      In the requests of all accounts to this service, over the last 24 hours. Times are medians.
    </Text>
    {performance === null ? (
      <Text size="sm">Too few requests to say.</Text>
    ) : (
      <Table variant="vertical" layout="fixed" withTableBorder>
        <Table.Tbody>
          {measures.map(([name, show]) => (
            <Table.Tr key={name}>
              <Table.Th scope="row">{name}</Table.Th>
              <Table.Td>{show(performance)}</Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
    )}
  </section>
)
