import { afterAll, beforeAll, expect, test } from 'bun:test'
import * as fc from '../../../../testing/property'
import { computePace, continuePace, readForecast } from './forecast'
import { openTestDatabase } from '../../../../testing/db/database'
import { recordForTests } from '../../../../testing/ledger/event'
import { moveAt, newAccount } from '../../../../testing/ledger/past-movement'
import { settle } from '../../../ledger/settle'
import type { Database } from '../../../platform/db/database'

const dayMs = 86_400_000
const stack = new AsyncDisposableStack()
let database: Database

beforeAll(async () => {
  database = await openTestDatabase(stack)
})
afterAll(() => stack.disposeAsync())

test('a pace needs three days with usage of the last seven', () => {
  const byDay = [0n, 5n, 0n, 0n, 0n, 9n, 0n]
  expect(computePace({ byDay, hadEarlier: true })).toBeUndefined()
  expect(computePace({ byDay: byDay.with(6, 7n), hadEarlier: true })).toEqual({
    cost: 21n,
    days: 7,
  })
})

test('the pace of a new account is that since its first day', () => {
  const byDay = [0n, 0n, 0n, 3n, 0n, 3n, 6n]
  expect(computePace({ byDay, hadEarlier: false })).toEqual({ cost: 12n, days: 4 })
})

const day = 1_000_000_000n

test('a pace leads to the end of the month and to that of the balance', () => {
  const nowMs = Date.parse('2026-11-20T12:00:00Z')
  const monthEndMs = Date.parse('2026-12-01T00:00:00Z')
  const pace = { cost: 7n * day, days: 7 }
  expect(continuePace(pace, { spent: 12n * day, balance: 4n * day, nowMs, monthEndMs })).toEqual({
    dailyAverage: day,
    monthTotal: 22n * day + day / 2n,
    lastsUntil: new Date('2026-11-24T12:00:00Z'),
  })
  const rich = { spent: 0n, balance: 400n * day, nowMs, monthEndMs }
  expect(continuePace(pace, rich).lastsUntil).toBeUndefined()
})

test('a higher pace never leads to a lower total, nor to a later end', () => {
  const amount = fc.bigInt({ min: 1n, max: 10n ** 15n })
  fc.assert(
    fc.property(
      amount,
      amount,
      fc.record({ spent: amount, balance: amount }),
      (one, more, rest) => {
        const continuing = { ...rest, nowMs: 0, monthEndMs: 9 * dayMs }
        const [low, high] = [one, one + more].map((cost) =>
          continuePace({ cost, days: 7 }, continuing),
        )
        expect(high?.monthTotal).toBeGreaterThanOrEqual(low?.monthTotal ?? 0n)
        const [sooner = Infinity, later = Infinity] = [high, low].map((ends) =>
          ends?.lastsUntil?.getTime(),
        )
        expect(sooner).toBeLessThanOrEqual(later)
      },
    ),
  )
})

const nowMs = Date.parse('2026-11-20T12:30:00Z')

async function newSpender(days: readonly string[]): Promise<string> {
  const id = await newAccount(database)
  await moveAt(database, id, { kind: 'topup', atMs: Date.parse('2026-09-01'), amount: 30n * day })
  await settle(
    database.query,
    days.map((startedAt) => recordForTests(id, { cost: day, startedAt })),
  )
  return id
}

const forecastOf = (id: string, zone = 'UTC') =>
  readForecast(database.query, { id, organizationId: null }, { filter: { time_zone: zone }, nowMs })

test('a forecast continues the pace of the balance, and counts the month in its time zone', async () => {
  const id = await newSpender([
    '2026-10-31T23:30:00Z',
    '2026-11-13T11:59:59Z',
    '2026-11-13T12:00:00Z',
    '2026-11-14T12:00:00Z',
    '2026-11-19T12:00:00Z',
    '2026-11-20T11:59:59Z',
    // After the last full hour: spent, but no part of the pace.
    '2026-11-20T12:10:00Z',
  ])
  const forecast = await forecastOf(id)
  expect(forecast).toMatchObject({
    spent: 6,
    period: { start: '2026-11-01T00:00:00.000Z', end: '2026-12-01T00:00:00.000Z' },
    forecast: {
      since: '2026-11-13T12:00:00.000Z',
      until: '2026-11-20T12:00:00.000Z',
      days: 7,
      daily_average: 0.571428571,
    },
  })
  const untilEnd = (Date.parse('2026-12-01') - nowMs) / dayMs
  expect(forecast.forecast?.month_total).toBeCloseTo(6 + (4 / 7) * untilEnd, 8)
  // 23 of 30 are left.
  const lastsMs = Date.parse(forecast.forecast?.lasts_until ?? '') - nowMs
  expect(lastsMs / dayMs).toBeCloseTo(23 / (4 / 7), 6)
  expect((await forecastOf(id, 'Asia/Tokyo')).spent).toBe(7)
})

test('too little usage has no forecast', async () => {
  const id = await newSpender(['2026-11-18T10:00:00Z', '2026-11-19T20:00:00Z'])
  expect(await forecastOf(id)).toMatchObject({ spent: 2, forecast: null })
})
