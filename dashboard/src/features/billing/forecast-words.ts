import { usd } from '../../format/money'
import { formatCount } from '../../format/figures'
import type { SpendForecast } from './statement-queries'

/** Writes a forecast as a sentence; undefined without one. `locale` is that of the browser by default. */
export function describeForecast(
  { forecast, period, spent }: SpendForecast,
  locale?: string,
): string | undefined {
  if (!forecast) return undefined
  const { days, daily_average: average, month_total: total } = forecast
  const dayOf = (at: string) => nameDay(at, period, locale)
  const lastDay = dayOf(new Date(Date.parse(period.end) - 1).toISOString())
  const pace = `At the pace of the last ${formatCount(days, 'day')} (${usd(average)} a day)`
  return `${pace}: about ${usd(total)} by ${lastDay}, of which ${usd(spent)} is spent; ${describeEnd(forecast, dayOf)}.`
}

type Forecast = NonNullable<SpendForecast['forecast']>

function describeEnd(
  { lasts_until: end, until: now }: Forecast,
  dayOf: (at: string) => string,
): string {
  if (end === null) return 'the balance lasts for more than a year'
  const day = dayOf(end)
  return day === dayOf(now) ? 'the balance is spent today' : `the balance lasts until about ${day}`
}

/** Names a day, with its year where that is another than the period's. */
function nameDay(
  at: string,
  { start, time_zone: timeZone }: SpendForecast['period'],
  locale: string | undefined,
): string {
  const yearOf = (time: string) =>
    new Intl.DateTimeFormat('en', { year: 'numeric', timeZone }).format(new Date(time))
  const year = yearOf(at) === yearOf(start) ? {} : { year: 'numeric' as const }
  return new Intl.DateTimeFormat(locale, {
    day: 'numeric',
    month: 'long',
    ...year,
    timeZone,
  }).format(new Date(at))
}
