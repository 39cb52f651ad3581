import {
  Checkbox,
  Fieldset,
  NumberInput,
  Select,
  SimpleGrid,
  Stack,
  TagsInput,
  TextInput,
} from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import {
  AccessFields,
  listOrNone,
  noLists,
  toAccessBody,
  toAccessFields,
  type AccessFormFields,
} from './access-fields'
import { limits, permissions, type Key } from './queries'

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
const dayMs = 86_400_000

/** An empty number field is an empty text. */
type Limit = number | ''

/** The fields of the form of a key. */
export interface KeyFormFields extends AccessFormFields {
  name: string
  permissions: Key['permissions']
  life: string
  day: string
  rate_limit_requests_per_minute: Limit
  rate_limit_tokens_per_minute: Limit
  rate_limit_images_per_minute: Limit
  rate_limit_audio_seconds_per_minute: Limit
  max_concurrent_requests: Limit
  monthly_spend_limit: Limit
  allowed_addresses: string[]
  tags: string[]
}

export const newKeyFields: KeyFormFields = {
  name: '',
  permissions: ['read', 'write'],
  life: never,
  day: '',
  rate_limit_requests_per_minute: '',
  rate_limit_tokens_per_minute: '',
  rate_limit_images_per_minute: '',
  rate_limit_audio_seconds_per_minute: '',
  max_concurrent_requests: '',
  monthly_spend_limit: '',
  ...noLists,
  allowed_addresses: [],
  tags: [],
}

/** A date as the browser's date input has it, in the user's time zone. */
function toDay(at: string): string {
  const date = new Date(at)
  const parts = [date.getFullYear(), date.getMonth() + 1, date.getDate()]
  return parts.map((part) => String(part).padStart(2, '0')).join('-')
}

/** Returns the fields of an existing key. */
export const toKeyFields = (key: Key): KeyFormFields => ({
  name: key.name,
  permissions: key.permissions,
  life: key.expires_at === null ? never : ownDay,
  day: key.expires_at === null ? '' : toDay(key.expires_at),
  rate_limit_requests_per_minute: key.rate_limit_requests_per_minute ?? '',
  rate_limit_tokens_per_minute: key.rate_limit_tokens_per_minute ?? '',
  rate_limit_images_per_minute: key.rate_limit_images_per_minute ?? '',
  rate_limit_audio_seconds_per_minute: key.rate_limit_audio_seconds_per_minute ?? '',
  max_concurrent_requests: key.max_concurrent_requests ?? '',
  monthly_spend_limit: key.monthly_spend_limit ?? '',
  ...toAccessFields(key),
  allowed_addresses: key.allowed_addresses ?? [],
  tags: key.tags,
})

/** Returns the expiry as the API expects it, null for never: a day ends in the user's time zone. */
export function toExpiry({ life, day }: Pick<KeyFormFields, 'life' | 'day'>): string | null {
  if (life === never) return null
  const end = life === ownDay ? new Date(`${day}T23:59:59`) : Date.now() + Number(life) * dayMs
  return new Date(end).toISOString()
}

/** Returns the fields that a request body has, too; an empty text stands for no value. */
export function toBodyFields({ life: _life, day: _day, ...fields }: KeyFormFields) {
  const allowed_addresses = listOrNone(fields.allowed_addresses)
  return { ...fields, ...toAccessBody(fields), allowed_addresses, tags: listOrNone(fields.tags) }
}

export const validateKey = {
  permissions: (chosen: string[]) => (chosen.length === 0 ? 'Select at least one.' : null),
  day: (day: string, { life }: KeyFormFields) =>
    life === ownDay && day === '' ? 'Select a date.' : null,
}

interface Props {
  form: UseFormReturnType<KeyFormFields>
}

export const KeyFields = ({ form }: Props) => (
  <>
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
    <SimpleGrid cols={{ base: 1, xs: 2 }}>
      <Select label="Expires" data={lives} allowDeselect={false} {...form.getInputProps('life')} />
      {form.values.life === ownDay && (
        <TextInput type="date" label="Expiry date" {...form.getInputProps('day')} />
      )}
    </SimpleGrid>
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
    <AccessFields form={form} />
    <TagsInput
      label="Allowed addresses"
      description="IP addresses or networks that requests come from, such as 203.0.113.0/24. Empty: all addresses"
      maxLength={50}
      maxTags={50}
      acceptValueOnBlur
      {...form.getInputProps('allowed_addresses')}
    />
    <TagsInput
      label="Tags"
      description="Of all requests with the key: filters and groupings of logs and usage, such as team:search"
      maxLength={64}
      maxTags={10}
      acceptValueOnBlur
      {...form.getInputProps('tags')}
    />
  </>
)
