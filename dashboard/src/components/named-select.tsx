import { Select } from '@mantine/core'

interface Named {
  id: string
  name: string
}

interface Props {
  label: string
  /** Undefined until loaded. */
  options: readonly Named[] | undefined
  error: Error | null
  /** The id of the selected item. */
  value: string | undefined
  onChange: (value: string | undefined) => void
}

/** Filters a list by one of a set of named items: the select shows names, the address holds the id. */
export function NamedSelect({ label, options, error, value, onChange }: Props) {
  const isLoading = !options && !error
  const choices = (options ?? []).map(({ id, name }) => ({ value: id, label: name }))
  const isUnknown = value !== undefined && choices.every((one) => one.value !== value)
  return (
    <Select
      label={label}
      placeholder={isLoading ? 'Loading…' : 'All'}
      clearable
      searchable
      data={isUnknown ? [...choices, { value, label: value }] : choices}
      value={isLoading ? null : (value ?? null)}
      onChange={(chosen) => onChange(chosen ?? undefined)}
      {...(error && { error: error.message })}
    />
  )
}
