import { Alert, Group, Paper, Stack, Text, Title } from '@mantine/core'
import { useQuery } from '@tanstack/react-query'
import { Forecast } from './forecast'
import { balanceQuery, type Balance } from './queries'
import { Loaded } from '../../components/loaded'
import { Money } from '../../components/money'

/** The balance and what is available of it. */
export function BalanceCard({ organization }: { organization: string | undefined }) {
  const query = useQuery(balanceQuery(organization))
  return (
    <Paper withBorder p="lg" component="section" aria-label="Balance">
      <Stack gap="sm">
        <Title order={2} size="h4">
          Balance
        </Title>
        <Loaded query={query}>{(balance) => <Figures balance={balance} />}</Loaded>
        <Forecast organization={organization} />
      </Stack>
    </Paper>
  )
}

const Figures = ({ balance }: { balance: Balance }) => (
  <>
    <Text fz={34} fw={600} lh={1.2}>
      <Money amount={balance.balance} />
    </Text>
    <Warning balance={balance} />
    <Row label="Reserved for running requests" amount={balance.held} />
    <Row label="Available" amount={balance.available_balance} />
    <Row label="Minimum for paid requests" amount={balance.minimum_required} />
  </>
)

const Row = ({ label, amount }: { label: string; amount: number }) => (
  <Group justify="space-between" gap="xs">
    <Text size="sm" c="dimmed">
      {label}
    </Text>
    <Text size="sm">
      <Money amount={amount} />
    </Text>
  </Group>
)

/** The most important notice about the balance. */
function Warning({ balance }: { balance: Balance }) {
  if (balance.payment_method_required) {
    return (
      <Alert color="red" title="Payment required">
        A recharge failed or a payment was reversed. Paid requests are rejected until credits are
        bought.
      </Alert>
    )
  }
  if (!balance.is_charged) {
    return <Alert color="blue">The platform pays for your requests, not this balance.</Alert>
  }
  if (balance.organization_id === null && balance.funding_source === 'organization') {
    return (
      <Alert color="blue">Your requests are billed to an organization, not to this balance.</Alert>
    )
  }
  // Reserved amounts are not spent yet.
  if (balance.balance >= balance.warning_threshold) return undefined
  return (
    <Alert color="yellow" title="Low balance">
      Less than <Money amount={balance.warning_threshold} /> is left.
    </Alert>
  )
}
