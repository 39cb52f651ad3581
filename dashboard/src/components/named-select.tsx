import { Select } from '@mantine/core'

interface Named {
  id: string
  name: string
}

interface Props {
  label: string
  /** Undefined as long as they are not known. */
  known: readonly Named[] | undefined
  error: Error | null
  /** The id of one. */
  value: string | undefined
  onChange: (value: string | undefined) => void
}

/** Narrows a list to one of what has a name: people see the name, the address has the id. */
export function NamedSelect({ label, known, error, value, onChange }: Props) {
  const isLoading = !known && !error
  const choices = (known ?? []).map(({ id, name }) => ({ value: id, label: name }))
  const isUnknown = value !== undefined && choices.every((one) => one.value !== value)
  return (
    <Select
      label={label}
      placeholder={isLoading ? 'Loading …' : 'All'}
      clearable
      searchable
      data={isUnknown ? [...choices, { value, label: value }] : choices}
      value={isLoading ? null : (value ?? null)}
      onChange={(chosen) => onChange(chosen ?? undefined)}
      {...(error && { error: error.message })}
    />
  )
}
