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
import { useQueryClient } from '@tanstack/react-query'
import { api, json } from '../api'
import { FormFrame } from '../components/form-frame'
import { keysQuery, limits, permissions } from '../keys'
import { useSubmit } from '../submit'

const never = 'never'
const ownDay = 'day'
const lives = [
  { value: never, label: 'Never' },
  { value: '7', label: 'In 7 days' },
  { value: '30', label: 'In 30 days' },
  { value: '90', label: 'In 90 days' },
  { value: '365', label: 'In a year' },
  { value: ownDay, label: 'At the end of a day' },
]

/** A field of a number is an empty text where nothing is in it. */
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

/** The end as the service takes it: the day ends where the reader is. */
function expiryOf({ life, day }: Fields) {
  if (life === never) return {}
  if (life !== ownDay) return { expires_in_days: Number(life) }
  return { expires_at: new Date(`${day}T23:59:59`).toISOString() }
}

const sent = ({ life, day, ...fields }: Fields) => ({
  ...Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== '')),
  ...expiryOf({ life, day, ...fields }),
})

interface Props {
  /** Takes the secret of the key that was made. */
  onMade: (made: { name: string; key: string }) => void
  onCancel: () => void
}

export function NewKey({ onMade, onCancel }: Props) {
  const queries = useQueryClient()
  const form = useForm<Fields>({
    initialValues,
    validate: {
      permissions: (chosen) => (chosen.length === 0 ? 'Choose at least one.' : null),
      day: (day, { life }) => (life === ownDay && day === '' ? 'Choose a day.' : null),
    },
  })
  const submission = useSubmit(async (fields: Fields) => {
    const made = await (await api.account.keys.$post(undefined, json(sent(fields)))).json()
    await queries.invalidateQueries(keysQuery)
    onMade(made)
  }, form)
  return (
    <FormFrame form={form} submission={submission} label="Create key" onCancel={onCancel}>
      <TextInput
        label="Name"
        description="Where it is used: a program, a person, a server"
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
      <Fieldset legend="Limits, where the key shall have less than the account">
        <SimpleGrid cols={{ base: 1, xs: 2 }}>
          {limits.map(([field, label]) => (
            <NumberInput
              key={field}
              label={label}
              placeholder="As the account"
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
      <TextInput type="date" label="Last day" {...form.getInputProps('day')} />
    )}
  </SimpleGrid>
)
