const dayMs = 86_400_000
const usualDays = 30
/** Older usage is kept by the day in UTC; two days less than the service keeps, as its days may be other ones. */
const hourlyDays = 87

/** A range of whole days, both included, and their time zone. */
export interface Span {
  from: string
  to: string
  zone: string
}

/** The time zone of this browser; UTC where it is not whole quarters of an hour from UTC, by which the service counts. */
export function browserZone(now: Pick<Date, 'getTimezoneOffset'> = new Date()): string {
  const isWhole = now.getTimezoneOffset() % 15 === 0
  return isWhole ? new Intl.DateTimeFormat().resolvedOptions().timeZone : 'UTC'
}

const dayIn = (zone: string, ms: number) =>
  new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' }).format(ms)

interface RequestedDays {
  from?: string | undefined
  to?: string | undefined
  /** The days before are read, too. */
  compare?: 'previous' | undefined
}

/** Returns the days to show: those of an address, else the last 30. Days that ended long ago are days in UTC. */
export function toSpan(
  { from, to, compare }: RequestedDays,
  nowMs: number,
  localZone = browserZone(),
): Span {
  const end = to ?? dayIn(localZone, nowMs)
  const start = from ?? dayIn('UTC', Date.parse(end) - (usualDays - 1) * dayMs)
  const first = start < end ? start : end
  const length = Date.parse(end) - Date.parse(first) + dayMs
  const earliest = Date.parse(first) - (compare ? length : 0)
  const isOld = earliest < nowMs - hourlyDays * dayMs
  return { from: first, to: end, zone: isOld ? 'UTC' : localZone }
}

/** Ranges that a click selects, with their days. */
export function listPresets(
  nowMs: number,
  zone: string,
): { name: string; from: string; to: string }[] {
  const today = dayIn(zone, nowMs)
  const [year = 0, month = 0] = today.split('-').map(Number)
  const dayOf = (ms: number) => dayIn('UTC', ms)
  const back = (days: number) => dayOf(Date.parse(today) - (days - 1) * dayMs)
  return [
    { name: 'Today', from: today, to: today },
    { name: 'Last 7 days', from: back(7), to: today },
    { name: 'Last 30 days', from: back(usualDays), to: today },
    { name: 'This month', from: dayOf(Date.UTC(year, month - 1, 1)), to: today },
    {
      name: 'Last month',
      from: dayOf(Date.UTC(year, month - 2, 1)),
      to: dayOf(Date.UTC(year, month - 1, 0)),
    },
  ]
}

/** The interval of a chart of a range: hours of up to two days, days of up to three months, else weeks. */
export function usualInterval({ from, to }: Span): 'hour' | 'day' | 'week' {
  const days = (Date.parse(to) - Date.parse(from)) / dayMs + 1
  if (days <= 2) return 'hour'
  return days <= 92 ? 'day' : 'week'
}
