import { TextInput } from '@mantine/core'

/** Whole days, as an input of the browser has them. */
export interface Days {
  from?: string | undefined
  to?: string | undefined
}

interface Props {
  days: Days
  /** Told of the one that was changed; it is undefined where its field was emptied. */
  onChange: (changed: Days) => void
}

/** From which day to which a list goes; the address has it. */
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
