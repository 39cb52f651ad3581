import { useInterval } from '@mantine/hooks'
import { useState } from 'react'

const days = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' })
const distance = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' })

const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const
const nearMs = 7 * 86_400_000
const secondMs = 1000

function formatDistance(date: Date, minUnit: 'minute' | 'second'): string {
  const offsetMs = date.getTime() - Date.now()
  if (Math.abs(offsetMs) >= nearMs) return days.format(date)
  const unit = units.find(([, lengthMs]) => Math.abs(offsetMs) >= lengthMs)
  if (unit) return distance.format(Math.round(offsetMs / unit[1]), unit[0])
  if (minUnit === 'minute') return distance.format(0, 'minute')
  // A client clock that is behind may put it in the future.
  return distance.format(Math.min(0, Math.round(offsetMs / secondMs)), 'second')
}

interface Props {
  /** ISO 8601. */
  at: string | null
  /** The text shown without a time. */
  fallback?: string
}

const Timestamp = ({ at, minUnit }: { at: string; minUnit: 'minute' | 'second' }) => {
  const date = new Date(at)
  return (
    <time dateTime={at} title={exact.format(date)}>
      {formatDistance(date, minUnit)}
    </time>
  )
}

/** A relative time, with the exact local time as its title. */
export const Moment = ({ at, fallback = 'never' }: Props) =>
  at === null ? fallback : <Timestamp at={at} minUnit="minute" />

const tickMs = 5000

/** A relative time that updates every second. */
export function LiveMoment({ at, fallback = 'never' }: Props) {
  const [, tick] = useState(0)
  useInterval(() => tick((count) => count + 1), tickMs, { autoInvoke: true })
  return at === null ? fallback : <Timestamp at={at} minUnit="second" />
}
