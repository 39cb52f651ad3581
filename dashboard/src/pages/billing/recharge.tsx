import {
  Button,
  Group,
  NumberInput,
  Paper,
  SimpleGrid,
  Stack,
  Switch,
  Text,
  Title,
} from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api, json } from '../../api'
import { settingsQuery, type Settings } from '../../billing'
import { Loaded } from '../../components/loaded'
import { Problem } from '../../components/problem'
import { useSubmit } from '../../submit'

/** Settings of automatic recharge. */
export function Recharge() {
  const query = useQuery(settingsQuery)
  return (
    <Paper withBorder p="lg" component="section" aria-label="Automatic recharge">
      <Stack gap="sm">
        <Title order={2} size="h4">
          Automatic recharge
        </Title>
        <Loaded query={query}>
          {(settings) => <RechargeForm key={settings.updated_at} settings={settings} />}
        </Loaded>
      </Stack>
    </Paper>
  )
}

function RechargeForm({ settings }: { settings: Settings }) {
  const queries = useQueryClient()
  const form = useForm({ initialValues: settings.auto_recharge })
  const { submit, isBusy, error } = useSubmit(async (fields: typeof form.values) => {
    await api.account.settings.$put(undefined, json({ auto_recharge: fields }))
    await queries.invalidateQueries(settingsQuery)
    notifications.show({ message: 'Automatic recharge was updated.' })
  })
  const isPossible = settings.payment_method_saved
  return (
    <form onSubmit={form.onSubmit((fields) => void submit(fields))} noValidate>
      <Stack gap="sm">
        <Problem error={error} />
        <Text size="sm" c="dimmed">
          {isPossible
            ? 'Charges your saved payment method when the balance runs low, at most once per hour.'
            : 'Save a payment method with your next purchase to enable automatic recharge.'}
        </Text>
        <Switch
          label="Recharge when the balance runs low"
          disabled={!isPossible}
          {...form.getInputProps('enabled', { type: 'checkbox' })}
        />
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          <NumberInput
            label="When the balance falls below"
            prefix="$"
            decimalScale={2}
            disabled={!isPossible}
            {...form.getInputProps('threshold')}
          />
          <NumberInput
            label="Recharge amount"
            prefix="$"
            decimalScale={2}
            disabled={!isPossible}
            {...form.getInputProps('amount')}
          />
        </SimpleGrid>
        <Group>
          <Button type="submit" loading={isBusy} disabled={!isPossible}>
            Save
          </Button>
        </Group>
      </Stack>
    </form>
  )
}
