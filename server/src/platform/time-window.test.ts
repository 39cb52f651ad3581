import { describe, expect, test } from 'bun:test'
import { assert, constantFrom, integer, property, record } from '../../testing/property'
import { findTimeZone } from './local-clock'
import { findWindow, monthInUtc, toRuleKey, windowUnits, type WindowRule } from './time-window'

const minuteMs = 60_000
const hourMs = 60 * minuteMs

const rule = (unit: WindowRule['unit'], timeZone: string, firstWeekday = 1): WindowRule => ({
  unit,
  timeZone,
  firstWeekday,
})

const isoWindow = (of: WindowRule, at: string) => {
  const { fromMs, toMs } = findWindow(of, Date.parse(at))
  return [new Date(fromMs).toISOString(), new Date(toMs).toISOString()]
}

/** Zones whose clocks change at midnight, by half an hour, over a date, rarely, or never. */
const zones = [
  'UTC',
  'Europe/Berlin',
  'America/New_York',
  'America/Havana',
  'America/Santiago',
  'America/St_Johns',
  'America/Asuncion',
  'Asia/Beirut',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'Asia/Tehran',
  'Africa/Cairo',
  'Africa/Casablanca',
  'Atlantic/Azores',
  'Australia/Lord_Howe',
  'Pacific/Apia',
  'Pacific/Chatham',
  'Pacific/Kiritimati',
  'Pacific/Marquesas',
] as const

/** The same windows by `Temporal`, which the implementation does not use. */
function referenceWindow({ unit, timeZone, firstWeekday }: WindowRule, atMs: number) {
  const local = Temporal.Instant.fromEpochMilliseconds(atMs).toZonedDateTimeISO(timeZone)
  let date = local.toPlainDate()
  if (unit === 'week') date = date.subtract({ days: (date.dayOfWeek + 7 - firstWeekday) % 7 })
  if (unit === 'month') date = date.with({ day: 1 })
  if (unit === 'quarter') date = date.with({ day: 1, month: date.month - ((date.month - 1) % 3) })
  if (unit === 'year') date = date.with({ day: 1, month: 1 })
  const lengths = {
    day: { days: 1 },
    week: { days: 7 },
    month: { months: 1 },
    quarter: { months: 3 },
    year: { years: 1 },
  }
  const length = unit === 'hour' || unit === 'total' ? { days: 1 } : lengths[unit]
  const startOf = (day: Temporal.PlainDate) =>
    day.toZonedDateTime({ timeZone }).startOfDay().epochMilliseconds
  return { fromMs: startOf(date), toMs: startOf(date.add(length)) }
}

describe('windows of whole days', () => {
  const moment = record({
    unit: constantFrom('day', 'week', 'month', 'quarter', 'year'),
    timeZone: constantFrom(...zones),
    firstWeekday: integer({ min: 1, max: 7 }),
    minute: integer({
      min: Date.UTC(2008, 0) / minuteMs,
      max: Date.UTC(2040, 0) / minuteMs,
    }),
  })

  test('are those of Temporal, in any zone and year', () => {
    assert(
      property(moment, ({ minute, ...of }) => {
        const atMs = minute * minuteMs
        expect(findWindow(of, atMs)).toEqual(referenceWindow(of, atMs))
      }),
      { numRuns: 4000 },
    )
  })

  test('follow each other without gap or overlap, also where the clock is set over midnight', () => {
    for (const timeZone of zones) {
      const of = rule('day', timeZone)
      let window = findWindow(of, Date.UTC(2009, 11, 20))
      const endMs = Date.UTC(2012, 0, 10)
      while (window.toMs < endMs) {
        expect(findWindow(of, window.toMs - 1)).toEqual(window)
        const next = findWindow(of, window.toMs)
        expect([timeZone, next.fromMs]).toEqual([timeZone, window.toMs])
        window = next
      }
    }
  })

  test('have 23 or 25 hours where summer time begins or ends', () => {
    expect(isoWindow(rule('day', 'Europe/Berlin'), '2026-03-29T12:00:00Z')).toEqual([
      '2026-03-28T23:00:00.000Z',
      '2026-03-29T22:00:00.000Z',
    ])
    expect(isoWindow(rule('day', 'Europe/Berlin'), '2026-10-25T12:00:00Z')).toEqual([
      '2026-10-24T22:00:00.000Z',
      '2026-10-25T23:00:00.000Z',
    ])
  })

  test('begin at one o’clock where midnight is skipped', () => {
    expect(isoWindow(rule('day', 'America/Havana'), '2026-03-08T12:00:00Z')).toEqual([
      '2026-03-08T05:00:00.000Z',
      '2026-03-09T04:00:00.000Z',
    ])
  })

  test('of a week begin with the chosen weekday', () => {
    const at = '2026-11-25T12:00:00Z'
    expect(isoWindow(rule('week', 'UTC', 1), at)[0]).toBe('2026-11-23T00:00:00.000Z')
    expect(isoWindow(rule('week', 'UTC', 7), at)[0]).toBe('2026-11-22T00:00:00.000Z')
    expect(isoWindow(rule('week', 'UTC', 3), at)[0]).toBe('2026-11-25T00:00:00.000Z')
    expect(isoWindow(rule('week', 'UTC', 4), at)[0]).toBe('2026-11-19T00:00:00.000Z')
  })
})

const lordHoweHour = (at: string) => isoWindow(rule('hour', 'Australia/Lord_Howe'), at)

describe('hours', () => {
  test('begin with the hours of the clock, and follow each other without gap or overlap', () => {
    for (const timeZone of zones) {
      const of = rule('hour', timeZone)
      for (const [fromMs, toMs] of [
        [Date.UTC(2026, 2, 1), Date.UTC(2026, 3, 12)],
        [Date.UTC(2026, 8, 20), Date.UTC(2026, 10, 5)],
      ] as const) {
        let window = findWindow(of, fromMs)
        while (window.toMs < toMs) {
          expect(findWindow(of, window.toMs - 1)).toEqual(window)
          const next = findWindow(of, window.toMs)
          expect([timeZone, next.fromMs]).toEqual([timeZone, window.toMs])
          if (timeZone !== 'Australia/Lord_Howe') {
            expect([timeZone, window.toMs - window.fromMs]).toEqual([timeZone, hourMs])
          }
          const local = Temporal.Instant.fromEpochMilliseconds(window.fromMs)
          if (window.toMs - window.fromMs === hourMs && timeZone !== 'Australia/Lord_Howe')
            expect(local.toZonedDateTimeISO(timeZone).minute).toBe(0)
          window = next
        }
      }
    }
  })

  test('are cut where a clock is set by half an hour', () => {
    // At 02:00 the clock is set back to 01:30.
    const change = '2026-04-04T15:00:00.000Z'
    expect(lordHoweHour('2026-04-04T14:59:59Z')).toEqual(['2026-04-04T14:00:00.000Z', change])
    expect(lordHoweHour('2026-04-04T15:00:00Z')).toEqual([change, '2026-04-04T15:30:00.000Z'])
    expect(lordHoweHour('2026-04-04T15:30:00Z')).toEqual([
      '2026-04-04T15:30:00.000Z',
      '2026-04-04T16:30:00.000Z',
    ])
    // At 02:00 the clock is set to 02:30.
    const start = '2026-10-03T15:30:00.000Z'
    expect(lordHoweHour('2026-10-03T15:29:59Z')).toEqual(['2026-10-03T14:30:00.000Z', start])
    expect(lordHoweHour('2026-10-03T15:30:00Z')).toEqual([start, '2026-10-03T16:00:00.000Z'])
  })
})

test('a total has no end', () => {
  expect(findWindow(rule('total', 'Asia/Tokyo'), Date.now())).toEqual({ fromMs: 0, toMs: Infinity })
})

test('rules with the same windows share a key, all others do not', () => {
  expect(toRuleKey(rule('day', 'UTC', 1))).toBe(toRuleKey(rule('day', 'UTC', 7)))
  expect(toRuleKey(rule('week', 'UTC', 1))).not.toBe(toRuleKey(rule('week', 'UTC', 7)))
  expect(toRuleKey(rule('total', 'UTC'))).toBe(toRuleKey(rule('total', 'Asia/Tokyo')))
  const keys = windowUnits.flatMap((unit) =>
    ['UTC', 'Asia/Tokyo'].map((timeZone) => toRuleKey(rule(unit, timeZone))),
  )
  expect(new Set(keys).size).toBe(keys.length - 1)
  expect(toRuleKey(monthInUtc)).toBe(toRuleKey(rule('month', 'UTC', 5)))
})

test('a zone is a name of the IANA database, in any case; offsets and other texts are rejected', () => {
  expect(findTimeZone('europe/berlin')).toBe('Europe/Berlin')
  for (const name of ['+05:30', 'Mars/Olympus', '', ' UTC', '05:30'])
    expect(findTimeZone(name)).toBeUndefined()
})
