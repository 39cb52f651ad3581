import { Select } from '@mantine/core'

interface Props {
  /** Who can have made a change, as far as is known. */
  actors: readonly { value: string; label: string }[]
  value: string | undefined
  onChange: (actor: string | undefined) => void
}

/** Narrows a trail to the changes of one; the address has whom. */
export function ActorSelect({ actors, value, onChange }: Props) {
  // Who belongs to it no more has left traces all the same.
  const isKnown = value === undefined || actors.some((actor) => actor.value === value)
  return (
    <Select
      label="Who"
      placeholder="Everybody"
      clearable
      searchable
      data={isKnown ? actors : [...actors, { value, label: value }]}
      value={value ?? null}
      onChange={(actor) => onChange(actor ?? undefined)}
    />
  )
}
