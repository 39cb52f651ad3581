import {
  Checkbox,
  Group,
  MultiSelect,
  NumberInput,
  Select,
  Text,
  TextInput,
  Textarea,
} from '@mantine/core'
import { useForm, type UseFormReturnType } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { destinationsQuery } from './destination-queries'
import {
  alertTypes,
  channelNames,
  kinds,
  periodNames,
  periods,
  type Alert,
  type AlertType,
  type Period,
  typeNames,
} from './queries'
import { api } from '../../api/client'
import { ResourceForm } from '../../components/resource-form'
import { oneOf } from '../../url/search'

interface Fields {
  name: string
  type: AlertType
  threshold: number
  period: Period
  notification_channels: Alert['notification_channels']
  to: 'all' | 'some'
  notification_destinations: string[]
  description: string
  min_requests: number | ''
}

const unusualThreshold = 3
const thresholdOf = (type: AlertType) => kinds[type].threshold?.usual ?? unusualThreshold

const newAlert: Fields = {
  name: '',
  type: 'cost_threshold',
  threshold: thresholdOf('cost_threshold'),
  period: 'day',
  notification_channels: ['email', 'dashboard'],
  to: 'all',
  notification_destinations: [],
  description: '',
  min_requests: '',
}

const toFields = (alert: Alert): Fields => ({
  name: alert.name,
  type: alert.type,
  threshold: alert.threshold,
  period: alert.period,
  notification_channels: alert.notification_channels,
  to: alert.notification_destinations ? 'some' : 'all',
  notification_destinations: alert.notification_destinations ?? [],
  description: alert.description ?? '',
  min_requests: alert.min_requests ?? '',
})

const toBody = ({ to, ...fields }: Fields) => ({
  ...fields,
  notification_destinations: to === 'some' ? fields.notification_destinations : null,
  description: fields.description.trim() || null,
  min_requests:
    fields.min_requests === '' || kinds[fields.type].minRequests === undefined
      ? null
      : fields.min_requests,
})

/** Creates or edits an alert. */
export function AlertForm({ alert, onClose }: { alert?: Alert; onClose: () => void }) {
  const queries = useQueryClient()
  const form = useForm<Fields>({
    initialValues: alert ? toFields(alert) : newAlert,
    validate: {
      threshold: (value) => (String(value) === '' ? 'Enter a threshold.' : null),
    },
  })
  const save = async (fields: Fields) => {
    const body = toBody(fields)
    await (alert
      ? api.PUT('/api/account/alerts/{alert_id}', {
          params: { path: { alert_id: alert.id } },
          body,
        })
      : api.POST('/api/account/alerts', { body }))
    await queries.invalidateQueries({ queryKey: ['alerts'] })
    notifications.show({ message: `${fields.name} ${alert ? 'was updated' : 'was created'}.` })
    onClose()
  }
  return (
    <ResourceForm form={form} save={save} label={alert ? 'Save' : 'Create'} onCancel={onClose}>
      <TextInput
        label="Name"
        required
        maxLength={200}
        data-autofocus
        {...form.getInputProps('name')}
      />
      <Condition form={form} />
      <Checkbox.Group
        label="Notification channels"
        description="Without a channel, triggers appear in the history only"
        {...form.getInputProps('notification_channels')}
      >
        <Group mt="xs">
          <Checkbox value="email" label={channelNames.email} />
          <Checkbox value="dashboard" label={channelNames.dashboard} />
        </Group>
      </Checkbox.Group>
      <Recipients form={form} />
      <Textarea
        label="Description"
        description="Your notes, for example what to do"
        maxLength={500}
        autosize
        minRows={2}
        {...form.getInputProps('description')}
      />
    </ResourceForm>
  )
}

const recipientChoices = [
  { value: 'all', label: 'All destinations' },
  { value: 'some', label: 'Selected destinations' },
]

/** The destinations that get the triggers, for accounts that have some. */
function Recipients({ form }: { form: UseFormReturnType<Fields> }) {
  const { data: destinations = [] } = useQuery(destinationsQuery(undefined))
  if (destinations.length === 0) return undefined
  const choices = destinations.map(({ id, name }) => ({ value: id, label: name }))
  return (
    <>
      <Select
        label="Send to"
        allowDeselect={false}
        data={recipientChoices}
        {...form.getInputProps('to')}
      />
      {form.values.to === 'some' && (
        <MultiSelect
          label="Destinations"
          searchable
          data={choices}
          {...form.getInputProps('notification_destinations')}
        />
      )}
    </>
  )
}

const periodChoices = periods.map((value) => ({ value, label: periodNames[value] }))

function Condition({ form }: { form: UseFormReturnType<Fields> }) {
  const { type } = form.values
  const { about, threshold, minRequests } = kinds[type]
  const change = (value: string | null) => {
    const chosen = oneOf({ value }, 'value', alertTypes)
    if (chosen) form.setValues({ type: chosen, threshold: thresholdOf(chosen), min_requests: '' })
  }
  return (
    <>
      <Select
        label="Alert type"
        allowDeselect={false}
        data={typeNames}
        {...form.getInputProps('type')}
        onChange={change}
      />
      <Text size="sm" c="dimmed" aria-live="polite">
        {about}
      </Text>
      {threshold && (
        <Group grow align="flex-start">
          <NumberInput
            label={threshold.label}
            description={threshold.hint}
            required
            min={0}
            max={threshold.max ?? 1e12}
            decimalScale={9}
            suffix={threshold.suffix}
            {...form.getInputProps('threshold')}
          />
          <Select
            label="Period"
            description="Rolling, up to now"
            allowDeselect={false}
            data={periodChoices}
            {...form.getInputProps('period')}
          />
        </Group>
      )}
      {minRequests !== undefined && (
        <NumberInput
          label="Minimum requests"
          description={`Fewer requests do not trigger the alert; ${minRequests} by default`}
          placeholder={String(minRequests)}
          min={1}
          max={1_000_000}
          allowDecimal={false}
          {...form.getInputProps('min_requests')}
        />
      )}
    </>
  )
}
