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
import { api, bodyOf } from '../../api/client'
import { ResourceForm } from '../../components/resource-form'
import { usd } from '../../format/money'

const usual = [10, 25, 50, 100]
const [min, max] = [1, 10_000]

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
        amount >= min && amount <= max ? null : `Enter an amount from ${usd(min)} to ${usd(max)}`,
    },
  })
  const save = async (fields: typeof form.values) => {
    const body = { ...fields, organization_id: organization, ...backTo(organization) }
    const { url } = await bodyOf(api.POST('/api/billing/checkout', { body }))
    window.location.assign(url)
  }
  return (
    <>
      <ResourceForm form={form} save={save} label="Go to checkout" kind="action" isGuarded={false}>
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
          min={min}
          max={max}
          decimalScale={2}
          prefix="$"
          clampBehavior="none"
          withAsterisk
          aria-required
          {...form.getInputProps('amount')}
        />
        {organization === undefined && (
          <Checkbox
            label="Save the payment method for automatic recharge"
            {...form.getInputProps('save_payment_method', { type: 'checkbox' })}
          />
        )}
      </ResourceForm>
      <Text size="xs" c="dimmed">
        You pay on the payment processor's page. Credits are added once it confirms the payment.
      </Text>
    </>
  )
}

/** The return address: an organization's payer returns to the organization's billing. */
function backTo(organization: string | undefined) {
  if (organization === undefined) return {}
  const address = `${window.location.origin}/billing?organization=${organization}`
  return { success_url: address, cancel_url: address }
}
