import { NumberInput, Select, SimpleGrid, Switch, TagsInput } from '@mantine/core'
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
  unanswered_requests: { charge: 'Charge what the provider bills', waive: 'Charge nothing' },
}

type Form = UseFormReturnType<Config>

interface Props {
  field: SettingField
  form: Form
}

/** The input of a setting, by the kind of its values. */
function SettingInput({ field, form }: Props) {
  const { path, label, about, kind, isInteger, unit, min, max, choices } = field
  const texts = { label, description: about }
  if (kind === 'switch') {
    return <Switch {...texts} {...form.getInputProps(path, { type: 'checkbox' })} />
  }
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

/** The inputs of a card: numbers side by side, the others below one another. */
export function SettingInputs({ fields, form }: { fields: readonly SettingField[]; form: Form }) {
  const numbers = fields.filter(({ kind }) => kind === 'number')
  const others = fields.filter(({ kind }) => kind !== 'number')
  return (
    <>
      {numbers.length > 0 && (
        <SimpleGrid cols={{ base: 1, xs: 2, md: 3 }}>
          {numbers.map((field) => (
            <SettingInput key={field.path} field={field} form={form} />
          ))}
        </SimpleGrid>
      )}
      {others.map((field) => (
        <SettingInput key={field.path} field={field} form={form} />
      ))}
    </>
  )
}
