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

function inWords(date: Date, least: 'minute' | 'second'): string {
  const awayMs = date.getTime() - Date.now()
  if (Math.abs(awayMs) >= nearMs) return days.format(date)
  const unit = units.find(([, lengthMs]) => Math.abs(awayMs) >= lengthMs)
  if (unit) return distance.format(Math.round(awayMs / unit[1]), unit[0])
  if (least === 'minute') return distance.format(0, 'minute')
  // A client clock that is behind may put it in the future.
  return distance.format(Math.min(0, Math.round(awayMs / secondMs)), 'second')
}

interface Props {
  /** ISO 8601. */
  at: string | null
  /** The text shown without a time. */
  none?: string
}

const Shown = ({ at, least }: { at: string; least: 'minute' | 'second' }) => {
  const date = new Date(at)
  return (
    <time dateTime={at} title={exact.format(date)}>
      {inWords(date, least)}
    </time>
  )
}

/** A relative time, with the exact local time as its title. */
export const Moment = ({ at, none = 'never' }: Props) =>
  at === null ? none : <Shown at={at} least="minute" />

const tickMs = 5000

/** A relative time that updates every second. */
export function LiveMoment({ at, none = 'never' }: Props) {
  const [, tick] = useState(0)
  useInterval(() => tick((count) => count + 1), tickMs, { autoInvoke: true })
  return at === null ? none : <Shown at={at} least="second" />
}
