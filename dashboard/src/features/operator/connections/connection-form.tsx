import {
  Autocomplete,
  JsonInput,
  NumberInput,
  PasswordInput,
  SimpleGrid,
  Switch,
  TextInput,
} from '@mantine/core'
import { useForm, type UseFormReturnType } from '@mantine/form'
import { notifications } from '@mantine/notifications'
import { useQuery } from '@tanstack/react-query'
import { api, type Schemas } from '../../../api/client'
import { changedFields, toBody } from '../../../components/changed-fields'
import { ResourceForm } from '../../../components/resource-form'
import { providersQuery } from '../../models/queries'
import { networkErrors, toNetworkChange, toNetworkFields } from '../../connections/network-fields'
import { NetworkSection } from '../../connections/network-section'
import type { PlatformConnection } from './queries'
import { fromJson, jsonProblem, jsonTextOf } from '../json-fields'
import { useRefresh } from '../refresh'

const usualPriority = 100

/** A number, or an empty text. */
type Amount = number | ''

const limitLabels = {
  rpm: 'Requests per minute',
  tpm: 'Tokens per minute',
  images_per_minute: 'Images per minute',
  audio_seconds_per_minute: 'Seconds of sound per minute',
}

type Limits = { [Name in keyof typeof limitLabels]: Amount }

const limitsOf = (connection: PlatformConnection | undefined): Limits => ({
  rpm: connection?.rate_limits?.rpm ?? '',
  tpm: connection?.rate_limits?.tpm ?? '',
  images_per_minute: connection?.rate_limits?.images_per_minute ?? '',
  audio_seconds_per_minute: connection?.rate_limits?.audio_seconds_per_minute ?? '',
})

const ownFieldsOf = (connection: PlatformConnection | undefined) => ({
  name: connection?.name ?? '',
  provider: connection?.provider ?? '',
  api_key: '',
  endpoint_url: connection?.endpoint_url ?? '',
  is_default: connection?.is_default ?? false,
  priority: connection?.priority ?? usualPriority,
  rate_limits: limitsOf(connection),
  options: jsonTextOf(connection?.options),
})

const fieldsOf = (connection: PlatformConnection | undefined) => ({
  ...ownFieldsOf(connection),
  network: toNetworkFields(connection?.network),
})

type Fields = ReturnType<typeof fieldsOf>
type OwnFields = ReturnType<typeof ownFieldsOf>

const orNull = (amount: Amount) => (amount === '' ? null : amount)

/** The fields in the shape the API expects. */
const toValues = ({ rate_limits: limits, options, ...fields }: OwnFields) => ({
  ...fields,
  rate_limits: {
    rpm: orNull(limits.rpm),
    tpm: orNull(limits.tpm),
    images_per_minute: orNull(limits.images_per_minute),
    audio_seconds_per_minute: orNull(limits.audio_seconds_per_minute),
  },
  options: fromJson(options),
})

function saveConnection(
  connection: PlatformConnection | undefined,
  { network: networkFields, ...fields }: Fields,
) {
  const values = toValues(fields)
  const network = toNetworkChange(networkFields, connection?.network)
  if (connection) {
    const before = toValues(ownFieldsOf(connection))
    return api.PUT('/api/admin/connections/{id}', {
      params: { path: { id: connection.id } },
      body: {
        ...changedFields<Schemas['ChangedPlatformConnection']>(values, before),
        ...(network && { network }),
      },
    })
  }
  // The API makes the first connection of a provider its default unless `is_default` is false.
  const { is_default, ...others } = values
  const body = toBody<Schemas['NewPlatformConnection']>({
    ...(is_default ? values : others),
    ...(network && { network }),
  })
  return api.POST('/api/admin/connections', { body })
}

interface Props {
  /** The connection to edit; undefined for a new one. */
  connection?: PlatformConnection
  onClose: () => void
}

export function ConnectionForm({ connection, onClose }: Props) {
  const refresh = useRefresh()
  const form = useForm({ initialValues: fieldsOf(connection), validate: { options: jsonProblem } })
  const save = async (fields: Fields) => {
    await saveConnection(connection, fields)
    await refresh()
    notifications.show({ message: `${fields.name} was saved.` })
    onClose()
  }
  return (
    <ResourceForm
      form={form}
      save={save}
      label={connection ? 'Save' : 'Add'}
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
      {!connection && <ProviderInput form={form} />}
      <TextInput
        label="Base URL"
        description="Only if it differs from the provider's; private addresses are allowed here"
        type="url"
        maxLength={500}
        {...form.getInputProps('endpoint_url')}
      />
      <PasswordInput
        label="API key"
        description={
          connection
            ? 'Required with a new base URL: the stored key is not sent elsewhere'
            : 'Stored encrypted and never shown again'
        }
        autoComplete="off"
        {...form.getInputProps('api_key')}
      />
      <PrioritySection form={form} />
      <JsonInput
        label="Options"
        description="Region, project, API version and deployments as JSON, if the provider requires them (docs/operate/providers.md)"
        autosize
        minRows={2}
        maxRows={12}
        validationError="This is not valid JSON."
        {...form.getInputProps('options')}
      />
      <NetworkSection form={form} shown={connection?.network} hasProxy />
    </ResourceForm>
  )
}

interface SectionProps {
  form: UseFormReturnType<Fields>
}

function ProviderInput({ form }: SectionProps) {
  const { data = [] } = useQuery(providersQuery)
  return (
    <Autocomplete
      label="Provider"
      description="The provider's key, the prefix of its model names; cannot be changed"
      required
      maxLength={40}
      data={data.map(({ value }) => value)}
      {...form.getInputProps('provider')}
    />
  )
}

/** Priority and limits of the connection. */
const PrioritySection = ({ form }: SectionProps) => (
  <>
    <Switch
      label="Default for its provider, tried first"
      {...form.getInputProps('is_default', { type: 'checkbox' })}
    />
    <SimpleGrid cols={{ base: 1, xs: 3 }}>
      <NumberInput
        label="Priority"
        description="Lower values are tried first"
        required
        min={1}
        max={1000}
        allowDecimal={false}
        {...form.getInputProps('priority')}
      />
      {Object.entries(limitLabels).map(([name, label]) => (
        <NumberInput
          key={name}
          label={label}
          description="Maximum"
          placeholder="No limit"
          min={1}
          allowDecimal={false}
          thousandSeparator
          {...form.getInputProps(`rate_limits.${name}`)}
        />
      ))}
    </SimpleGrid>
  </>
)
