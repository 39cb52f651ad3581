import { NumberInput, Select, SimpleGrid, Stack, Switch, TagsInput, TextInput } from '@mantine/core'
import type { UseFormReturnType } from '@mantine/form'
import type { Config } from './queries'
import type { SettingField } from './setting-fields'

const units: Readonly<Record<string, object>> = {
  USD: { prefix: '$', decimalScale: 9 },
  percent: { suffix: '%', decimalScale: 2 },
  seconds: { suffix: ' s', decimalScale: 3 },
}

/** Labels of choices; one without is listed by its value. */
const choiceNames: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  sign_up: { open: 'Anyone', invite: 'Invited people only', closed: 'No one' },
  unpriced_models: { refuse: 'Refuse', free: 'Free', object: 'One price for all' },
  unanswered_requests: { charge: 'Charge what the provider bills', waive: 'Charge nothing' },
}

type Form = UseFormReturnType<Config>

interface Props {
  field: SettingField
  form: Form
}

/** The value of an alternative that is an object. */
const object = 'object'

/** A choice, or the fields of an object. */
function AlternativeInput({ field: { path, label, about, choices, parts }, form }: Props) {
  const { value, onChange, error } = form.getInputProps(path)
  const isChoice = typeof value === 'string'
  const partNames = parts.map((part) => part.path.slice(path.length + 1))
  return (
    <Stack gap="xs">
      <Select
        label={label}
        description={about}
        maw={360}
        allowDeselect={false}
        data={[...choices, object].map((name) => ({
          value: name,
          label: choiceNames[path]?.[name] ?? name,
        }))}
        value={isChoice ? value : object}
        error={error}
        onChange={(name) =>
          onChange(name === object ? Object.fromEntries(partNames.map((part) => [part, ''])) : name)
        }
      />
      {!isChoice && <Numbers fields={parts} form={form} />}
    </Stack>
  )
}

/** A text; null where it is empty. */
function OptionalText({ field: { path, label, about }, form }: Props) {
  const { value, onChange, ...props } = form.getInputProps(path)
  return (
    <TextInput
      label={label}
      description={about}
      {...props}
      value={value ?? ''}
      onChange={(event) => onChange(event.currentTarget.value.trim() || null)}
    />
  )
}

/** The input of a setting, by the kind of its values. */
function SettingInput({ field, form }: Props) {
  const { path, label, about, kind, isInteger, unit, min, max, choices } = field
  const texts = { label, description: about }
  if (kind === 'switch') {
    return <Switch {...texts} {...form.getInputProps(path, { type: 'checkbox' })} />
  }
  if (kind === 'text') return <OptionalText field={field} form={form} />
  if (kind === 'alternative') return <AlternativeInput field={field} form={form} />
  if (kind === 'tags') {
    const placeholder = 'Press Enter after each entry'
    return <TagsInput {...texts} placeholder={placeholder} {...form.getInputProps(path)} />
  }
  if (kind === 'select') {
    const data = choices.map((value) => ({ value, label: choiceNames[path]?.[value] ?? value }))
    const props = { ...texts, data, maw: 360, allowDeselect: false }
    return <Select {...props} {...form.getInputProps(path)} />
  }
  return (
    <NumberInput
      {...texts}
      inputWrapperOrder={['label', 'input', 'description', 'error']}
      required
      thousandSeparator
      {...(min !== undefined && { min })}
      {...(max !== undefined && { max })}
      {...(isInteger && { decimalScale: 0 })}
      {...(unit !== undefined && units[unit])}
      {...form.getInputProps(path)}
    />
  )
}

const Numbers = ({ fields, form }: InputsProps) => (
  <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }}>
    {fields.map((field) => (
      <SettingInput key={field.path} field={field} form={form} />
    ))}
  </SimpleGrid>
)

interface InputsProps {
  fields: readonly SettingField[]
  form: Form
}

/** The inputs of a card: numbers side by side, the others below one another. */
export function SettingInputs({ fields, form }: InputsProps) {
  const numbers = fields.filter(({ kind }) => kind === 'number')
  const others = fields.filter(({ kind }) => kind !== 'number')
  return (
    <>
      {numbers.length > 0 && <Numbers fields={numbers} form={form} />}
      {others.map((field) => (
        <SettingInput key={field.path} field={field} form={form} />
      ))}
    </>
  )
}
