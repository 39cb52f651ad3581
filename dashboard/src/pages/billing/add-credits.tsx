import {
  Alert,
  Button,
  Checkbox,
  Group,
  NumberInput,
  Paper,
  Stack,
  Text,
  Title,
} from '@mantine/core'
import { useForm } from '@mantine/form'
import { checkedFetch, json } from '../../api'
import { Problem } from '../../components/problem'
import { usd } from '../../figures'
import { useSubmit } from '../../submit'

const usual = [10, 25, 50, 100]
const [least, most] = [1, 10_000]

interface Props {
  organization: string | undefined
  /** Undefined until loaded. */
  takesPayments: boolean | undefined
}

export const AddCredits = ({ organization, takesPayments }: Props) => (
  <Paper withBorder p="lg" component="section" aria-label="Add credits">
    <Stack gap="sm">
      <Title order={2} size="h4">
        Add credits
      </Title>
      {takesPayments === false ? (
        <Alert color="gray" title="Payments are not set up">
          This service has no payment processor. Its operator can connect one or grant you credits.
          Free models and your own connections work without credits.
        </Alert>
      ) : (
        <Order organization={organization} />
      )}
    </Stack>
  </Paper>
)

function Order({ organization }: { organization: string | undefined }) {
  const form = useForm({
    initialValues: { amount: 25, save_payment_method: false },
    validate: {
      amount: (amount) =>
        amount >= least && amount <= most
          ? null
          : `Enter an amount from ${usd(least)} to ${usd(most)}`,
    },
  })
  const { submit, isBusy, error } = useSubmit(async (fields: typeof form.values) => {
    const order = { ...fields, organization_id: organization, ...backTo(organization) }
    window.location.assign(await openCheckout(order))
  }, form)
  return (
    <form onSubmit={form.onSubmit((fields) => void submit(fields))} noValidate>
      <Stack gap="sm">
        <Problem error={error} />
        <Group gap="xs">
          {usual.map((amount) => (
            <Button
              key={amount}
              size="xs"
              variant={form.values.amount === amount ? 'filled' : 'default'}
              aria-pressed={form.values.amount === amount}
              onClick={() => form.setFieldValue('amount', amount)}
            >
              {usd(amount)}
            </Button>
          ))}
        </Group>
        <NumberInput
          label="Amount in USD"
          min={least}
          max={most}
          decimalScale={2}
          prefix="$"
          clampBehavior="none"
          required
          {...form.getInputProps('amount')}
        />
        {organization === undefined && (
          <Checkbox
            label="Save the payment method for automatic recharge"
            {...form.getInputProps('save_payment_method', { type: 'checkbox' })}
          />
        )}
        <Group>
          <Button type="submit" loading={isBusy}>
            Go to checkout
          </Button>
        </Group>
        <Text size="xs" c="dimmed">
          You pay on the payment processor's page. Credits are added once it confirms the payment.
        </Text>
      </Stack>
    </form>
  )
}

/**
 * Returns the address of the checkout page. This endpoint may replay a response (idempotency), so its
 * responses carry no type.
 */
async function openCheckout(order: object): Promise<string> {
  const response = await checkedFetch('/api/billing/checkout', {
    method: 'POST',
    ...json(order).init,
  })
  const { url }: { url: string } = await response.json()
  return url
}

/** The return address: an organization's payer returns to the organization's billing. */
function backTo(organization: string | undefined) {
  if (organization === undefined) return {}
  const address = `${window.location.origin}/billing?organization=${organization}`
  return { success_url: address, cancel_url: address }
}
