import {
  Checkbox,
  Fieldset,
  NumberInput,
  Select,
  SimpleGrid,
  Stack,
  TextInput,
} from '@mantine/core'
import { useForm, type UseFormReturnType } from '@mantine/form'
import { FormFrame } from '../components/form-frame'
import { limits, permissions } from '../keys'
import { useSubmit } from '../submit'

const never = 'never'
const ownDay = 'day'
const lives = [
  { value: never, label: 'Never' },
  { value: '7', label: 'In 7 days' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In 1 year' },
  { value: ownDay, label: 'On a date' },
]

/** An empty number field is an empty text. */
type Limit = number | ''

interface Fields {
  name: string
  permissions: string[]
  life: string
  day: string
  rate_limit_requests_per_minute: Limit
  rate_limit_tokens_per_minute: Limit
  max_concurrent_requests: Limit
  monthly_spend_limit: Limit
}

const initialValues: Fields = {
  name: '',
  permissions: ['read', 'write'],
  life: never,
  day: '',
  rate_limit_requests_per_minute: '',
  rate_limit_tokens_per_minute: '',
  max_concurrent_requests: '',
  monthly_spend_limit: '',
}

/** The expiry in the shape the API expects: the day ends in the user's time zone. */
function expiryOf({ life, day }: Fields) {
  if (life === never) return {}
  if (life !== ownDay) return { expires_in_days: Number(life) }
  return { expires_at: new Date(`${day}T23:59:59`).toISOString() }
}

const sent = ({ life, day, ...fields }: Fields) => ({
  ...Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== '')),
  ...expiryOf({ life, day, ...fields }),
})

interface Secret {
  name: string
  key: string
}

interface Props {
  /** Creates a key with these fields. */
  create: (fields: object) => Promise<Secret>
  /** Receives the secret of the new key. */
  onMade: (made: Secret) => void
  onCancel: () => void
}

export function NewKey({ create, onMade, onCancel }: Props) {
  const form = useForm<Fields>({
    initialValues,
    validate: {
      permissions: (chosen) => (chosen.length === 0 ? 'Select at least one.' : null),
      day: (day, { life }) => (life === ownDay && day === '' ? 'Select a date.' : null),
    },
  })
  const submission = useSubmit(async (fields: Fields) => {
    onMade(await create(sent(fields)))
  }, form)
  return (
    <FormFrame form={form} submission={submission} label="Create key" onCancel={onCancel}>
      <TextInput
        label="Name"
        description="Where the key is used: a client, a person, a server"
        required
        maxLength={100}
        data-autofocus
        {...form.getInputProps('name')}
      />
      <Checkbox.Group label="Permissions" {...form.getInputProps('permissions')}>
        <Stack gap="xs" mt={4} mb={4}>
          {permissions.map(([value, label, description]) => (
            <Checkbox key={value} value={value} label={label} description={description} />
          ))}
        </Stack>
      </Checkbox.Group>
      <Expiry form={form} />
      <Fieldset legend="Limits below those of the account">
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          {limits.map(([field, label]) => (
            <NumberInput
              key={field}
              label={label}
              placeholder="Account limit"
              min={field === 'monthly_spend_limit' ? 0 : 1}
              allowDecimal={field === 'monthly_spend_limit'}
              decimalScale={2}
              thousandSeparator=" "
              {...form.getInputProps(field)}
            />
          ))}
        </SimpleGrid>
      </Fieldset>
    </FormFrame>
  )
}

const Expiry = ({ form }: { form: UseFormReturnType<Fields> }) => (
  <SimpleGrid cols={{ base: 1, xs: 2 }}>
    <Select label="Expires" data={lives} allowDeselect={false} {...form.getInputProps('life')} />
    {form.values.life === ownDay && (
      <TextInput type="date" label="Expiry date" {...form.getInputProps('day')} />
    )}
  </SimpleGrid>
)
