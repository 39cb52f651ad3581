import { expect, test } from 'bun:test'
import { browserZone, listPresets, toSpan, usualInterval } from './span'

const nowMs = Date.parse('2026-11-30T23:30:00Z')

test('the last 30 days are shown by default, of the days in the zone of the browser', () => {
  expect(toSpan({}, nowMs, 'UTC')).toEqual({ from: '2026-11-01', to: '2026-11-30', zone: 'UTC' })
  const tokyo = { from: '2026-11-02', to: '2026-12-01', zone: 'Asia/Tokyo' }
  expect(toSpan({}, nowMs, 'Asia/Tokyo')).toEqual(tokyo)
})

test('an address decides the days; those of long ago are in UTC, and never end before they start', () => {
  const days = { from: '2026-10-05', to: '2026-10-20' }
  expect(toSpan(days, nowMs, 'Europe/Berlin')).toEqual({ ...days, zone: 'Europe/Berlin' })
  const old = { from: '2026-01-05', to: '2026-10-20' }
  expect(toSpan(old, nowMs, 'Europe/Berlin')).toEqual({ ...old, zone: 'UTC' })
  expect(toSpan({ from: '2026-11-09', to: '2026-11-03' }, nowMs, 'UTC').from).toBe('2026-11-03')
})

test('a browser shows days in its own zone, also of half hours, and in UTC where that is of odd minutes', () => {
  const { timeZone } = new Intl.DateTimeFormat().resolvedOptions()
  expect(browserZone({ getTimezoneOffset: () => -330 })).toBe(timeZone)
  expect(browserZone({ getTimezoneOffset: () => 44 })).toBe('UTC')
})

test('days whose days before are long ago are in UTC', () => {
  const days = { from: '2026-10-01', to: '2026-11-30' }
  expect(toSpan(days, nowMs, 'Asia/Kolkata').zone).toBe('Asia/Kolkata')
  expect(toSpan({ ...days, compare: 'previous' }, nowMs, 'Asia/Kolkata').zone).toBe('UTC')
})

test('presets are whole days and months until today', () => {
  const presets = listPresets(nowMs, 'Asia/Tokyo')
  expect(Object.fromEntries(presets.map(({ name, from, to }) => [name, [from, to]]))).toEqual({
    Today: ['2026-12-01', '2026-12-01'],
    'Last 7 days': ['2026-11-25', '2026-12-01'],
    'Last 30 days': ['2026-11-02', '2026-12-01'],
    'This month': ['2026-12-01', '2026-12-01'],
    'Last month': ['2026-11-01', '2026-11-30'],
  })
})

test.each([
  ['2026-11-30', '2026-11-30', 'hour'],
  ['2026-11-01', '2026-11-30', 'day'],
  ['2026-01-01', '2026-11-30', 'week'],
] as const)('from %s to %s the chart has a bar each %s', (from, to, interval) => {
  expect(usualInterval({ from, to, zone: 'UTC' })).toBe(interval)
})
