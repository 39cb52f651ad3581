import { Checkbox, Group, NumberInput, Select, Text, TextInput, Textarea } from '@mantine/core'
import { useForm, type UseFormReturnType } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useQueryClient } from '@tanstack/react-query'
import {
  alertsEndpoint,
  alertTypes,
  channelNames,
  kinds,
  periodNames,
  periods,
  type Alert,
  type AlertType,
  type Period,
} from '../alerts'
import { json } from '../api'
import { FormFrame } from '../components/form-frame'
import { oneOf } from '../search'
import { useSubmit } from '../submit'

interface Fields {
  name: string
  type: AlertType
  threshold: number | string
  period: Period
  notification_channels: string[]
  description: string
  min_requests: number | string
}

const unusualThreshold = 3
const thresholdOf = (type: AlertType) => kinds[type].threshold?.usual ?? unusualThreshold

const newAlert: Fields = {
  name: '',
  type: 'cost_threshold',
  threshold: thresholdOf('cost_threshold'),
  period: 'day',
  notification_channels: ['email', 'dashboard'],
  description: '',
  min_requests: '',
}

const toFields = (alert: Alert): Fields => ({
  name: alert.name,
  type: alert.type,
  threshold: alert.threshold,
  period: alert.period,
  notification_channels: alert.notification_channels,
  description: alert.description ?? '',
  min_requests: alert.min_requests ?? '',
})

const toSent = (fields: Fields) => ({
  ...fields,
  description: fields.description.trim() || null,
  min_requests:
    fields.min_requests === '' || kinds[fields.type].leastRequests === undefined
      ? null
      : fields.min_requests,
})

/** Creates or edits an alert. */
export function AlertForm({ alert, onDone }: { alert?: Alert; onDone: () => void }) {
  const queries = useQueryClient()
  const form = useForm<Fields>({
    initialValues: alert ? toFields(alert) : newAlert,
    validate: {
      threshold: (value) => (value === '' ? 'Enter a threshold.' : null),
    },
  })
  const submission = useSubmit(async (fields: Fields) => {
    const sent = json(toSent(fields))
    await (alert
      ? alertsEndpoint[':alert_id'].$put({ param: { alert_id: alert.id } }, sent)
      : alertsEndpoint.$post(undefined, sent))
    await queries.invalidateQueries({ queryKey: ['alerts'] })
    notifications.show({ message: `${fields.name} ${alert ? 'was updated' : 'was created'}.` })
    onDone()
  }, form)
  return (
    <FormFrame
      form={form}
      submission={submission}
      label={alert ? 'Save' : 'Create'}
      onCancel={onDone}
    >
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
      <Textarea
        label="Description"
        description="Your notes, for example what to do"
        maxLength={500}
        autosize
        minRows={2}
        {...form.getInputProps('description')}
      />
    </FormFrame>
  )
}

const typeNames = alertTypes.map((value) => ({ value, label: kinds[value].label }))
const periodChoices = periods.map((value) => ({ value, label: periodNames[value] }))

function Condition({ form }: { form: UseFormReturnType<Fields> }) {
  const { type } = form.values
  const { about, threshold, leastRequests } = kinds[type]
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
            max={threshold.most ?? 1e12}
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
      {leastRequests !== undefined && (
        <NumberInput
          label="Minimum requests"
          description={`Fewer requests do not trigger the alert; ${leastRequests} by default`}
          placeholder={String(leastRequests)}
          min={1}
          max={1_000_000}
          allowDecimal={false}
          {...form.getInputProps('min_requests')}
        />
      )}
    </>
  )
}
