import { usd } from '../../format/money'
import { formatCount } from '../../format/figures'
import type { SpendForecast } from './statement-queries'

/** Writes a forecast as a sentence; undefined without one. `locale` is that of the browser by default. */
export function describeForecast(
  { forecast, period, spent }: SpendForecast,
  locale?: string,
): string | undefined {
  if (!forecast) return undefined
  const dayOf = (at: string | number) =>
    new Intl.DateTimeFormat(locale, {
      day: 'numeric',
      month: 'long',
      timeZone: period.time_zone,
    }).format(new Date(at))
  const lastDay = dayOf(Date.parse(period.end) - 1)
  const pace = `At the pace of the last ${formatCount(forecast.days, 'day')} (${usd(forecast.daily_average)} a day)`
  const end =
    forecast.lasts_until === null
      ? 'the balance lasts for more than a year'
      : `the balance lasts until about ${dayOf(forecast.lasts_until)}`
  return `${pace}: about ${usd(forecast.month_total)} by ${lastDay}, of which ${usd(spent)} is spent; ${end}.`
}
