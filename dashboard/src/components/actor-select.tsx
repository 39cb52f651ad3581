import { Select } from '@mantine/core'

interface Props {
  /** Known actors of changes. */
  actors: readonly { value: string; label: string }[]
  value: string | undefined
  onChange: (actor: string | undefined) => void
}

/** Filters an audit log by actor; the address holds the filter. */
export function ActorSelect({ actors, value, onChange }: Props) {
  // Former members still have entries.
  const isKnown = value === undefined || actors.some((actor) => actor.value === value)
  return (
    <Select
      label="Actor"
      placeholder="All actors"
      clearable
      searchable
      data={isKnown ? actors : [...actors, { value, label: value }]}
      value={value ?? null}
      onChange={(actor) => onChange(actor ?? undefined)}
    />
  )
}
