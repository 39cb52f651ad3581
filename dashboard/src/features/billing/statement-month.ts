import { browserZone } from '../explorer/span'

const dayMs = 86_400_000
/** As in the explorer: usage of months that began earlier is kept by the day in UTC. */
const hourlyDays = 87
/** Months to choose from; earlier ones are in the address. */
const maxMonths = 60

/** A calendar month, such as `2026-11`, and its time zone. */
export interface StatementMonth {
  month: string
  zone: string
}

/** Returns the month to show: that of an address, else the current one. Months that began long ago are in UTC. */
export function toStatementMonth(
  requested: string | undefined,
  nowMs: number,
  localZone = browserZone(),
): StatementMonth {
  const month = requested ?? monthIn(localZone, nowMs)
  const isOld = Date.parse(`${month}-01`) < nowMs - hourlyDays * dayMs
  return { month, zone: isOld ? 'UTC' : localZone }
}

const monthIn = (zone: string, ms: number) =>
  new Intl.DateTimeFormat('en-CA', { timeZone: zone, dateStyle: 'short' }).format(ms).slice(0, 7)

/** Returns the last day of a month: `2026-11-30`. */
export function lastDayOf(month: string): string {
  const [year = 0, number = 1] = month.split('-').map(Number)
  return new Date(Date.UTC(year, number, 0)).toISOString().slice(0, 10)
}

const names = new Intl.DateTimeFormat(undefined, {
  month: 'long',
  year: 'numeric',
  timeZone: 'UTC',
})

/** Returns the name of a month: November 2026. */
export const nameMonth = (month: string): string => names.format(Date.parse(`${month}-01`))

const stepBack = (month: string) => {
  const [year = 0, number = 1] = month.split('-').map(Number)
  return new Date(Date.UTC(year, number - 2)).toISOString().slice(0, 7)
}

/** Lists the months from the first one to the current one, newest first, and the shown one. */
export function listMonths(
  { first, shown }: { first: string; shown: string },
  nowMs: number,
  zone = browserZone(),
): { value: string; label: string }[] {
  const months: string[] = []
  for (
    let month = monthIn(zone, nowMs);
    month >= first && months.length < maxMonths;
    month = stepBack(month)
  ) {
    months.push(month)
  }
  if (!months.includes(shown)) months.push(shown)
  return months.map((value) => ({ value, label: nameMonth(value) }))
}
