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
import { changesOf } from '../../changes'
import { FormFrame } from '../../components/form-frame'
import { providersQuery } from '../../models'
import type { PlatformConnection } from '../../operator/connections'
import { jsonProblem, jsonTextOf, toJsonFields } from '../../operator/json-fields'
import { useRefresh } from '../../operator/refresh'
import { useSubmit } from '../../submit'

const usualPriority = 100

/** A number, or an empty text. */
type Amount = number | string

const limitsOf = (connection: PlatformConnection | undefined): { rpm: Amount; tpm: Amount } => ({
  rpm: connection?.rate_limits?.rpm ?? '',
  tpm: connection?.rate_limits?.tpm ?? '',
})

const fieldsOf = (connection: PlatformConnection | undefined) => ({
  name: connection?.name ?? '',
  provider: connection?.provider ?? '',
  api_key: '',
  endpoint_url: connection?.endpoint_url ?? '',
  is_default: connection?.is_default ?? false,
  priority: connection?.priority ?? usualPriority,
  rate_limits: limitsOf(connection),
  options: jsonTextOf(connection?.options),
})

type Fields = ReturnType<typeof fieldsOf>

const orNull = (amount: Amount) => (amount === '' ? null : Number(amount))

/** The changes in the shape the API expects. */
function toSent(fields: Fields, before: object): object {
  const changed = toJsonFields(changesOf(fields, before), ['options'])
  if (!('rate_limits' in changed)) return changed
  const { rpm, tpm } = fields.rate_limits
  return { ...changed, rate_limits: { rpm: orNull(rpm), tpm: orNull(tpm) } }
}

interface Props {
  /** The connection to edit; undefined for a new one. */
  connection?: PlatformConnection
  save: (fields: object) => Promise<void>
  onClose: () => void
}

export function ConnectionForm({ connection, save, onClose }: Props) {
  const refresh = useRefresh()
  const before = fieldsOf(connection)
  const form = useForm({ initialValues: before, validate: { options: jsonProblem } })
  const submission = useSubmit(async (fields: Fields) => {
    // The API makes the first connection of a provider its default unless `is_default` is false.
    await save(toSent(fields, connection ? before : { is_default: false }))
    await refresh()
    notifications.show({ message: `${fields.name} was saved.` })
    onClose()
  }, form)
  return (
    <FormFrame
      form={form}
      submission={submission}
      label={connection ? 'Save' : 'Add'}
      onCancel={onClose}
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
      <Turns form={form} />
      <JsonInput
        label="Options"
        description="Region, project, API version and deployments as JSON, if the provider requires them (docs/providers.md)"
        autosize
        minRows={2}
        maxRows={12}
        validationError="This is not valid JSON."
        {...form.getInputProps('options')}
      />
    </FormFrame>
  )
}

interface PartProps {
  form: UseFormReturnType<Fields>
}

function ProviderInput({ form }: PartProps) {
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
const Turns = ({ form }: PartProps) => (
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
      <NumberInput
        label="Requests per minute"
        description="Maximum"
        placeholder="No limit"
        min={1}
        allowDecimal={false}
        thousandSeparator
        {...form.getInputProps('rate_limits.rpm')}
      />
      <NumberInput
        label="Tokens per minute"
        description="Maximum"
        placeholder="No limit"
        min={1}
        allowDecimal={false}
        thousandSeparator
        {...form.getInputProps('rate_limits.tpm')}
      />
    </SimpleGrid>
  </>
)
