import { Select } from '@mantine/core'

interface Props<Name extends string> {
  label: string
  /** Whether to show the label, when the filters beside it show theirs. */
  isLabelled?: boolean
  /** The placeholder when nothing is selected. */
  all: string
  names: Readonly<Record<Name, string>>
  value: Name | undefined
  onChange: (value: Name | undefined) => void
}

/** Filters a list by one of a fixed set of values; the address holds the filter. */
export function FilterSelect<Name extends string>(props: Props<Name>) {
  const { label, isLabelled = false, all, names, value, onChange } = props
  const isKnown = (name: string | null): name is Name => name !== null && name in names
  return (
    <Select
      {...(isLabelled ? { label } : { 'aria-label': label })}
      placeholder={all}
      clearable
      data={Object.entries<string>(names).map(([name, label]) => ({ value: name, label }))}
      value={value ?? null}
      onChange={(name) => onChange(isKnown(name) ? name : undefined)}
    />
  )
}
