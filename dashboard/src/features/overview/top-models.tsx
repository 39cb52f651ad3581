import { Paper, Progress, Stack, Table, Text, Title } from '@mantine/core'
import { ListTable } from '../../components/list-table'
import { Money } from '../../components/money'
import { compact, count, percent } from '../../format/figures'

const maxModels = 8

interface UsedModel {
  model: string
  requests: number
  input_tokens: number
  output_tokens: number
  /** USD. */
  usage_cost: number
  usage_percentage: number | null
}

/** The models whose requests cost the most, whichever account paid. */
export const TopModels = ({ models }: { models: readonly UsedModel[] }) => (
  <Paper withBorder p="md" component="section" aria-label="Top models" miw={0}>
    <Stack gap="sm">
      <Title order={3} size="h4">
        Top models
      </Title>
      {models.length === 0 ? (
        <Text size="sm" c="dimmed">
          No requests in this period.
        </Text>
      ) : (
        <ListTable
          columns={[
            'Model',
            { name: 'Requests', isNumber: true },
            { name: 'Tokens', isNumber: true },
            { name: 'Spend', isNumber: true, position: 'aside' },
          ]}
          minWidth={400}
        >
          {models.slice(0, maxModels).map((one) => (
            <Table.Tr key={one.model}>
              <Table.Td>
                <Text size="sm" style={{ overflowWrap: 'anywhere' }}>
                  {one.model}
                </Text>
                {one.usage_percentage !== null && (
                  <Progress
                    mt={4}
                    size="xs"
                    value={one.usage_percentage}
                    aria-label={`${percent(one.usage_percentage)} of the spend`}
                  />
                )}
              </Table.Td>
              <Table.Td ta="right">{count(one.requests)}</Table.Td>
              <Table.Td ta="right">{compact(one.input_tokens + one.output_tokens)}</Table.Td>
              <Table.Td ta="right">
                <Money amount={one.usage_cost} />
              </Table.Td>
            </Table.Tr>
          ))}
        </ListTable>
      )}
    </Stack>
  </Paper>
)
