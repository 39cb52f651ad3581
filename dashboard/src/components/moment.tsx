import { Text } from '@mantine/core'

const days = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium' })
const exact = new Intl.DateTimeFormat(undefined, { dateStyle: 'full', timeStyle: 'long' })
const distance = new Intl.RelativeTimeFormat(undefined, { numeric: 'auto' })

const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const
const nearMs = 7 * 86_400_000

function inWords(date: Date): string {
  const awayMs = date.getTime() - Date.now()
  if (Math.abs(awayMs) >= nearMs) return days.format(date)
  const unit = units.find(([, lengthMs]) => Math.abs(awayMs) >= lengthMs)
  return unit
    ? distance.format(Math.round(awayMs / unit[1]), unit[0])
    : distance.format(0, 'minute')
}

interface Props {
  /** ISO 8601. */
  at: string | null
  /** What stands there without a time. */
  none?: string
}

/** A time as people say it; the exact one, in their own zone, is its title. */
export const Moment = ({ at, none = 'never' }: Props) => {
  if (at === null) return <Text inherit>{none}</Text>
  const date = new Date(at)
  return (
    <time dateTime={at} title={exact.format(date)}>
      {inWords(date)}
    </time>
  )
}
