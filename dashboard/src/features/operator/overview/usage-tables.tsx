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

/** Calls, failures and cost by provider. */
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
          { name: 'Spend', isNumber: true, position: 'aside' },
        ]}
        minWidth={640}
      >
        {providers.map((one) => (
          <Table.Tr key={one.provider}>
            <Table.Td>{one.provider}</Table.Td>
            <Table.Td ta="right">{count(one.calls)}</Table.Td>
            <Table.Td ta="right">{count(one.failed_calls)}</Table.Td>
            <Table.Td ta="right">{percent(one.failure_rate)}</Table.Td>
            <Table.Td ta="right">{duration(one.avg_latency_ms)}</Table.Td>
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
          { name: 'Spend', isNumber: true, position: 'aside' },
        ]}
        minWidth={560}
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
            <Table.Td ta="right">
              <Money amount={one.cost} />
            </Table.Td>
          </Table.Tr>
        ))}
      </ListTable>
    )}
  </Card>
)
