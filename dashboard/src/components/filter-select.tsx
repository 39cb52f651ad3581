import { Select } from '@mantine/core'

interface Props<Name extends string> {
  label: string
  /** Where the others beside it have theirs in sight. */
  isLabelled?: boolean
  /** What is said where nothing is chosen. */
  all: string
  names: Readonly<Record<Name, string>>
  value: Name | undefined
  onChange: (value: Name | undefined) => void
}

/** Narrows a list to one of a few kinds; the address has which. */
export function FilterSelect<Name extends string>(props: Props<Name>) {
  const { label, isLabelled = false, all, names, value, onChange } = props
  const isKnown = (name: string | null): name is Name => name !== null && name in names
  return (
    <Select
      {...(isLabelled ? { label } : { 'aria-label': label })}
      placeholder={all}
      clearable
      data={Object.entries<string>(names).map(([name, words]) => ({ value: name, label: words }))}
      value={value ?? null}
      onChange={(name) => onChange(isKnown(name) ? name : undefined)}
    />
  )
}
