import { SegmentedControl } from '@mantine/core'
import { periods, type Period } from '../../url/period'

const labels: Readonly<Record<Period, string>> = {
  '24h': '24 hours',
  '7d': '7 days',
  '30d': '30 days',
}
/** The periods to choose from. */
export const periodChoices = periods.map((value) => ({ value, label: labels[value] }))

interface Props {
  value: Period
  onChange: (period: Period) => void
}

/** Selects the period of the figures. */
export const PeriodControl = ({ value, onChange }: Props) => (
  <SegmentedControl aria-label="Period" data={periodChoices} value={value} onChange={onChange} />
)
