import { Button, Group, Paper, Select, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { getRouteApi } from '@tanstack/react-router'
import { Loaded } from '../../components/loaded'
import { Money } from '../../components/money'
import { QueryFailure } from '../../components/query-failure'
import { formatCount } from '../../format/figures'
import { describePaid } from '../../format/payer'
import { billingSearch } from '../../url/period'
import { listMonths, nameMonth, toStatementMonth } from './statement-month'
import { statementAddress, statementQuery, type Statement as Lines } from './statement-queries'
import { StatementTable } from './statement-table'

const route = getRouteApi('/home/billing')

/** The statement of a balance for a month. */
export function Statement() {
  const { organization, month } = route.useSearch()
  const navigate = route.useNavigate()
  const of = { organization, ...toStatementMonth(month, Date.now()) }
  const query = useQuery(statementQuery(of))
  const { data } = query
  return (
    <Paper withBorder p="lg" component="section" aria-label="Statement">
      <Stack gap="md">
        <Group justify="space-between" gap="sm">
          <Title order={2} size="h4">
            Statement
          </Title>
          <Group gap="sm">
            <Select
              aria-label="Month"
              allowDeselect={false}
              w={180}
              data={listMonths(
                { first: data?.first_month ?? of.month, shown: of.month },
                Date.now(),
              )}
              value={of.month}
              onChange={(value) =>
                void navigate({
                  search: (now) => billingSearch({ ...now, month: value }),
                  replace: true,
                })
              }
            />
            <Button
              component="a"
              variant="default"
              href={statementAddress(of)}
              download={`statement-${of.month}.csv`}
            >
              Download CSV
            </Button>
          </Group>
        </Group>
        <Loaded query={query}>
          {(statement) => (
            <Stack
              gap="sm"
              aria-busy={query.isPlaceholderData}
              opacity={query.isPlaceholderData ? 0.6 : 1}
            >
              {query.error && <QueryFailure error={query.error} refetch={query.refetch} />}
              <StatementLines statement={statement} />
            </Stack>
          )}
        </Loaded>
      </Stack>
    </Paper>
  )
}

const StatementLines = ({ statement }: { statement: Lines }) => (
  <>
    {statement.lines.length === 0 ? (
      <Text size="sm" c="dimmed">
        Nothing was added to this balance or spent from it in {nameMonth(statement.month)}
        {statement.closing_balance !== 0 && (
          <>
            ; it stayed at <Money amount={statement.closing_balance} />
          </>
        )}
        .
      </Text>
    ) : (
      <StatementTable key={statement.month} statement={statement} />
    )}
    <Remarks statement={statement} />
  </>
)

/** Names the costs that no line has, and the time zone of the days. */
function Remarks({ statement }: { statement: Lines }) {
  const { other_payers: others, uncharged_requests: uncharged, period } = statement
  const paid = describePaid(others)
  return (
    <Text size="xs" c="dimmed">
      {paid !== undefined && `Not from this balance: ${paid}. `}
      {uncharged > 0 &&
        `${formatCount(uncharged, 'request')} cost this balance nothing: free models, own keys, paid by the operator, or failed. `}
      Usage counts on the day on which a request began. Days in {period.time_zone}.
    </Text>
  )
}
