import { Anchor, Table, Text } from '@mantine/core'
import { Link } from '@tanstack/react-router'
import { Card } from '../../../components/card'
import { ListTable } from '../../../components/list-table'
import { Money } from '../../../components/money'
import { count, duration, percent } from '../../../format/figures'
import type { InstallationUsage } from './queries'

const noUsage = (
  <Text size="sm" c="dimmed">
    No requests in this period.
  </Text>
)

const marginColumns = [
  { name: 'Provider cost', isNumber: true, about: 'What providers bill you' },
  { name: 'Margin', isNumber: true, about: 'What you keep of the charges, less the provider cost' },
]

/** The cells of provider cost and margin. */
const MarginCells = ({ of }: { of: { provider_cost: number; margin: number } }) => (
  <>
    <Table.Td ta="right">
      <Money amount={of.provider_cost} />
    </Table.Td>
    <Table.Td ta="right">
      <Money amount={of.margin} />
    </Table.Td>
  </>
)

/** The models that cost the most, with their margins. */
export const ModelTable = ({ models }: { models: InstallationUsage['by_model'] }) => (
  <Card title="Models">
    {models.length === 0 ? (
      noUsage
    ) : (
      <ListTable
        columns={[
          'Model',
          { name: 'Requests', isNumber: true },
          { name: 'Failed', isNumber: true },
          {
            name: 'Cost unknown',
            isNumber: true,
            about: 'Requests whose provider cost is unknown: set the cost of the model',
          },
          ...marginColumns,
          { name: 'Spend', isNumber: true, position: 'aside' },
        ]}
        minWidth={740}
      >
        {models.map((one) => (
          <Table.Tr key={one.model}>
            <Table.Td>
              <Anchor
                size="sm"
                style={{ overflowWrap: 'anywhere' }}
                renderRoot={(props) => (
                  <Link to="/operator/models" search={{ model: one.model }} {...props} />
                )}
              >
                {one.model}
              </Anchor>
            </Table.Td>
            <Table.Td ta="right">{count(one.requests)}</Table.Td>
            <Table.Td ta="right">{count(one.failed_requests)}</Table.Td>
            <Table.Td ta="right">{count(one.uncosted_requests)}</Table.Td>
            <MarginCells of={one} />
            <Table.Td ta="right">
              <Money amount={one.cost} />
            </Table.Td>
          </Table.Tr>
        ))}
      </ListTable>
    )}
  </Card>
)

/** Calls, failures, cost and margin by provider. */
export const ProviderTable = ({ providers }: { providers: InstallationUsage['by_provider'] }) => (
  <Card title="Providers">
    {providers.length === 0 ? (
      noUsage
    ) : (
      <ListTable
        columns={[
          'Provider',
          {
            name: 'Calls',
            isNumber: true,
            about: 'Calls to the provider: a request that was tried again has several',
          },
          { name: 'Failed', isNumber: true },
          { name: 'Failure rate', isNumber: true, about: 'Of the calls that were not cancelled' },
          { name: 'Mean latency', isNumber: true },
          ...marginColumns,
          { name: 'Spend', isNumber: true, position: 'aside' },
        ]}
        minWidth={820}
      >
        {providers.map((one) => (
          <Table.Tr key={one.provider}>
            <Table.Td>{one.provider}</Table.Td>
            <Table.Td ta="right">{count(one.calls)}</Table.Td>
            <Table.Td ta="right">{count(one.failed_calls)}</Table.Td>
            <Table.Td ta="right">{percent(one.failure_rate)}</Table.Td>
            <Table.Td ta="right">{duration(one.avg_latency_ms)}</Table.Td>
            <MarginCells of={one} />
            <Table.Td ta="right">
              <Money amount={one.cost} />
            </Table.Td>
          </Table.Tr>
        ))}
      </ListTable>
    )}
  </Card>
)

/** The accounts that cost the most, and those whose cost grew the most. */
export const AccountTable = ({ accounts }: { accounts: InstallationUsage['by_account'] }) => (
  <Card title="Top and growing accounts">
    {accounts.length === 0 ? (
      noUsage
    ) : (
      <ListTable
        columns={[
          'Account',
          { name: 'Requests', isNumber: true },
          { name: 'Failed', isNumber: true },
          {
            name: 'Before',
            isNumber: true,
            about: 'Spend in the period of the same length before',
          },
          ...marginColumns,
          { name: 'Spend', isNumber: true, position: 'aside' },
        ]}
        minWidth={740}
      >
        {accounts.map((one) => (
          <Table.Tr key={one.user_id}>
            <Table.Td>
              {one.email === null ? (
                <Text size="sm" c="dimmed">
                  Deleted account
                </Text>
              ) : (
                <Anchor
                  size="sm"
                  renderRoot={(props) => (
                    <Link to="/operator/users/$id" params={{ id: one.user_id }} {...props} />
                  )}
                >
                  {one.email}
                </Anchor>
              )}
            </Table.Td>
            <Table.Td ta="right">{count(one.requests)}</Table.Td>
            <Table.Td ta="right">{count(one.failed_requests)}</Table.Td>
            <Table.Td ta="right">
              <Money amount={one.previous_cost} />
            </Table.Td>
            <MarginCells of={one} />
            <Table.Td ta="right">
              <Money amount={one.cost} />
            </Table.Td>
          </Table.Tr>
        ))}
      </ListTable>
    )}
  </Card>
)
