import { SegmentedControl, Select } from '@mantine/core'
import { periods, type Period } from '../../url/period'
import { listMonths, toStatementMonth } from '../billing/statement-month'
import { periodChoices } from './period-control'

const monthChoice = 'month'
const maxMonths = 13

interface Props {
  period: Period
  /** The month that is shown instead of the period. */
  month: string | undefined
  onChange: (changed: { period?: Period; month?: string | undefined }) => void
}

/** Selects a period that ends now, or a calendar month. */
export function TimeControl({ period, month, onChange }: Props) {
  const current = toStatementMonth(undefined, Date.now()).month
  const [year = 0, number = 1] = current.split('-').map(Number)
  const first = new Date(Date.UTC(year, number - maxMonths)).toISOString().slice(0, 7)
  return (
    <>
      <SegmentedControl
        aria-label="Period"
        data={[...periodChoices, { value: monthChoice, label: 'Month' }]}
        value={month === undefined ? period : monthChoice}
        onChange={(value) => {
          const chosen = periods.find((name) => name === value)
          onChange(chosen ? { period: chosen, month: undefined } : { month: current })
        }}
      />
      {month !== undefined && (
        <Select
          aria-label="Month"
          allowDeselect={false}
          w={180}
          data={listMonths({ first, shown: month }, Date.now())}
          value={month}
          onChange={(value) => onChange({ month: value ?? month })}
        />
      )}
    </>
  )
}
