import { TextInput } from '@mantine/core'

/** Whole days, in the format of a date input. */
export interface Days {
  from?: string | undefined
  to?: string | undefined
}

interface Props {
  days: Days
  /** Receives the changed day only; its value is undefined when the field was emptied. */
  onChange: (changed: Days) => void
}

/** Selects a range of days; the address holds it. */
export const DayInputs = ({ days: { from, to }, onChange }: Props) => (
  <>
    <TextInput
      type="date"
      label="From"
      max={to}
      value={from ?? ''}
      onChange={(event) => onChange({ from: event.currentTarget.value || undefined })}
    />
    <TextInput
      type="date"
      label="To"
      min={from}
      value={to ?? ''}
      onChange={(event) => onChange({ to: event.currentTarget.value || undefined })}
    />
  </>
)
