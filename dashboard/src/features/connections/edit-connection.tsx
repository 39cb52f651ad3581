import { Modal, NumberInput, PasswordInput, SimpleGrid, Switch, TextInput } from '@mantine/core'
import { useForm, type UseFormReturnType } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useQueryClient } from '@tanstack/react-query'
import { api } from '../../api/client'
import { ResourceForm } from '../../components/resource-form'
import {
  networkErrors,
  toNetworkChange,
  toNetworkFields,
  type NetworkFields,
} from './network-fields'
import { NetworkSection } from './network-section'
import { connectionsQuery, type Connection } from './queries'
import { TimeoutInputs, toTimeoutFields, toTimeouts, type TimeoutFields } from './timeout-inputs'

interface Fields {
  name: string
  endpoint_url: string
  api_key: string
  rpm: number | string
  tpm: number | string
  images_per_minute: number | string
  audio_seconds_per_minute: number | string
  priority: number | string
  is_default: boolean
  is_on: boolean
  timeouts: TimeoutFields
  network: NetworkFields
}

const fieldsOf = (one: Connection): Fields => ({
  name: one.name,
  endpoint_url: one.endpoint_url ?? '',
  api_key: '',
  rpm: one.rate_limits?.rpm ?? '',
  tpm: one.rate_limits?.tpm ?? '',
  images_per_minute: one.rate_limits?.images_per_minute ?? '',
  audio_seconds_per_minute: one.rate_limits?.audio_seconds_per_minute ?? '',
  priority: one.priority,
  is_default: one.is_default,
  is_on: one.status !== 'inactive',
  timeouts: toTimeoutFields(one.timeouts),
  network: toNetworkFields(one.network),
})

const limitOf = (field: number | string) => (field === '' ? null : Number(field))

/** The changed fields: an unchanged status keeps the value that a test may have set. */
const toChanges = (fields: Fields, before: Fields) => ({
  name: fields.name,
  rate_limits: {
    rpm: limitOf(fields.rpm),
    tpm: limitOf(fields.tpm),
    images_per_minute: limitOf(fields.images_per_minute),
    audio_seconds_per_minute: limitOf(fields.audio_seconds_per_minute),
  },
  ...(fields.priority !== '' && { priority: Number(fields.priority) }),
  ...(fields.is_default !== before.is_default && { is_default: fields.is_default }),
  ...(fields.is_on !== before.is_on && {
    status: fields.is_on ? ('active' as const) : ('inactive' as const),
  }),
  ...(JSON.stringify(fields.timeouts) !== JSON.stringify(before.timeouts) && {
    timeouts: toTimeouts(fields.timeouts),
  }),
  ...(fields.endpoint_url !== before.endpoint_url && {
    endpoint_url: fields.endpoint_url || null,
    ...(fields.api_key !== '' && { api_key: fields.api_key }),
  }),
})

interface Props {
  connection: Connection
  onClose: () => void
}

export function EditConnection({ connection, onClose }: Props) {
  const queries = useQueryClient()
  const before = fieldsOf(connection)
  const form = useForm({ initialValues: before })
  const save = async (fields: Fields) => {
    const network = toNetworkChange(fields.network, connection.network)
    await api.PUT('/api/connections/{id}', {
      params: { path: { id: connection.id } },
      body: { ...toChanges(fields, before), ...(network && { network }) },
    })
    await queries.invalidateQueries(connectionsQuery)
    notifications.show({ message: `${fields.name} was updated.` })
    onClose()
  }
  const isMoved = form.values.endpoint_url !== before.endpoint_url
  return (
    <Modal opened onClose={onClose} title={`Edit ${connection.name}`}>
      <ResourceForm
        form={form}
        save={save}
        label="Save"
        onCancel={onClose}
        errorFields={networkErrors(form)}
      >
        <TextInput
          label="Name"
          required
          maxLength={100}
          data-autofocus
          {...form.getInputProps('name')}
        />
        <TextInput
          label="Base URL"
          description="Only if it differs from the provider's; https"
          type="url"
          {...form.getInputProps('endpoint_url')}
        />
        {isMoved && (
          <PasswordInput
            label="API key for this base URL"
            description="The stored key is never sent to another base URL. Without a key here, the connection is disabled until you add one."
            autoComplete="off"
            {...form.getInputProps('api_key')}
          />
        )}
        <Rules form={form} />
        <TimeoutInputs form={form} />
        {connection.gateway_type === 2 && <NetworkSection form={form} shown={connection.network} />}
      </ResourceForm>
    </Modal>
  )
}

const limitLabels = [
  ['rpm', 'Requests per minute'],
  ['tpm', 'Tokens per minute'],
  ['images_per_minute', 'Images per minute'],
  ['audio_seconds_per_minute', 'Seconds of sound per minute'],
] as const

/** Limits and priority of the connection. */
const Rules = ({ form }: { form: UseFormReturnType<Fields> }) => (
  <>
    <SimpleGrid cols={{ base: 1, xs: 2 }}>
      {limitLabels.map(([name, label]) => (
        <NumberInput
          key={name}
          label={label}
          placeholder="No limit"
          min={1}
          allowDecimal={false}
          thousandSeparator=" "
          {...form.getInputProps(name)}
        />
      ))}
    </SimpleGrid>
    <NumberInput
      label="Priority"
      description="Lower values are tried first"
      min={1}
      max={1000}
      required
      {...form.getInputProps('priority')}
    />
    <Switch
      label="Default for its provider"
      {...form.getInputProps('is_default', { type: 'checkbox' })}
    />
    <Switch label="Enabled" {...form.getInputProps('is_on', { type: 'checkbox' })} />
  </>
)
