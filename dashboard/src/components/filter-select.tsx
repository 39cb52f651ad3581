import { Select } from '@mantine/core'

interface Props<Name extends string> {
  label: string
  /** What is said where nothing is chosen. */
  all: string
  names: Readonly<Record<Name, string>>
  value: Name | undefined
  onChange: (value: Name | undefined) => void
}

/** Narrows a list to one of a few kinds; the address has which. */
export function FilterSelect<Name extends string>(props: Props<Name>) {
  const { label, all, names, value, onChange } = props
  const isKnown = (name: string | null): name is Name => name !== null && name in names
  return (
    <Select
      aria-label={label}
      placeholder={all}
      clearable
      data={Object.entries<string>(names).map(([name, words]) => ({ value: name, label: words }))}
      value={value ?? null}
      onChange={(name) => onChange(isKnown(name) ? name : undefined)}
    />
  )
}
