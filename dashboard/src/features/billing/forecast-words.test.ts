import { expect, test } from 'bun:test'
import { describeForecast } from './forecast-words'

const november = {
  organization_id: null,
  currency: 'USD' as const,
  period: {
    start: '2026-10-31T23:00:00.000Z',
    end: '2026-11-30T23:00:00.000Z',
    time_zone: 'Europe/Berlin',
  },
  spent: 12.5,
}

const forecast = {
  since: '2026-11-13T12:00:00.000Z',
  until: '2026-11-20T12:00:00.000Z',
  days: 7,
  daily_average: 1.25,
  month_total: 25.731,
  lasts_until: '2026-12-11T23:30:00.000Z',
}

test('a forecast is a sentence, with the days of its time zone', () => {
  expect(describeForecast({ ...november, forecast }, 'en-GB')).toBe(
    'At the pace of the last 7 days ($1.25 a day): about $25.73 by 30 November, of which $12.50 is spent; the balance lasts until about 12 December.',
  )
})

test('a balance that lasts long has no date', () => {
  const long = { ...forecast, lasts_until: null }
  expect(describeForecast({ ...november, forecast: long }, 'en-GB')).toEndWith(
    'the balance lasts for more than a year.',
  )
})

const wordsUntil = (lasts_until: string) =>
  describeForecast({ ...november, forecast: { ...forecast, lasts_until } }, 'en-GB')

test('a day of another year has its year, and today is named so', () => {
  expect(wordsUntil('2027-03-01T12:00:00.000Z')).toEndWith(
    'the balance lasts until about 1 March 2027.',
  )
  expect(wordsUntil('2026-11-20T14:00:00.000Z')).toEndWith('the balance is spent today.')
})

test('without a forecast there is no sentence', () => {
  expect(describeForecast({ ...november, forecast: null })).toBeUndefined()
})
