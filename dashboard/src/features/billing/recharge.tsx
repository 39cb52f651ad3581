import { ResourceForm } from '../../components/resource-form'
import {
  Box,
  NumberInput,
  Paper,
  SimpleGrid,
  Skeleton,
  Stack,
  Switch,
  Text,
  Title,
} from '@mantine/core'
import { useForm } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { api } from '../../api/client'
import { settingsQuery, type Settings } from '../settings/queries'
import { Loaded } from '../../components/loaded'

/** Settings of automatic recharge. */
export function Recharge() {
  const query = useQuery(settingsQuery)
  return (
    <Paper withBorder p="lg" component="section" aria-label="Automatic recharge">
      <Stack gap="sm">
        <Title order={2} size="h4">
          Automatic recharge
        </Title>
        <Loaded query={query} skeleton={skeleton}>
          {(settings) => <RechargeForm key={settings.updated_at} settings={settings} />}
        </Loaded>
      </Stack>
    </Paper>
  )
}

type RechargeSettings = Pick<Settings, 'auto_recharge' | 'payment_method_saved'>

function RechargeForm({ settings }: { settings: RechargeSettings }) {
  const queries = useQueryClient()
  const form = useForm({ initialValues: settings.auto_recharge })
  const save = async (fields: typeof form.values) => {
    await api.PUT('/api/account/settings', { body: { auto_recharge: fields } })
    await queries.invalidateQueries(settingsQuery)
    notifications.show({ message: 'Automatic recharge was updated.' })
  }
  const isPossible = settings.payment_method_saved
  return (
    <ResourceForm form={form} save={save} label="Save" isDisabled={!isPossible}>
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
    </ResourceForm>
  )
}

/** The form without settings, unseen. */
const skeleton = (
  <Skeleton>
    <Box style={{ visibility: 'hidden' }}>
      <RechargeForm
        settings={{
          auto_recharge: { enabled: false, threshold: 0, amount: 0 },
          payment_method_saved: false,
        }}
      />
    </Box>
  </Skeleton>
)
