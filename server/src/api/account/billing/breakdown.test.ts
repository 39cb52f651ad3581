import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import * as fc from '../../../../testing/property'
import { sql } from 'kysely'
import { readBreakdown, toAccountFigures } from './breakdown'
import type { BreakdownFilter, UsageBreakdown, UsageBreakdownFilter } from './breakdown-schema'
import { breakdownSource } from './breakdown-source'
import { granularities } from './schema'
import { sourceOf } from './sum-source'
import { openTestDatabase } from '../../../../testing/db/database'
import { addRequestSums } from '../../../../testing/request-logs/request-sums'
import { createCustomer } from '../../../../testing/ledger/customer'
import type { Database } from '../../../platform/db/database'

const nowMs = Date.parse('2026-11-30T12:00:00Z')
const stack = new AsyncDisposableStack()
let database: Database

const november: BreakdownFilter = {
  start_date: '2026-11-01',
  end_date: '2026-11-30',
  time_zone: 'UTC',
  group_by: 'model',
  limit: 100,
}

const read = (userId: string, filter: Partial<BreakdownFilter> = {}) => {
  const source = sourceOf({ id: userId, organizationId: null })
  return readBreakdown(
    database.query,
    { ...source, toFigures: toAccountFigures },
    { filter: { ...november, ...filter }, nowMs },
  )
}

beforeAll(async () => {
  database = await openTestDatabase(stack)
})
afterAll(() => stack.disposeAsync())

const byInterval = ({ intervals, time_series: series }: UsageBreakdown) =>
  series.map(({ interval, requests }) => [intervals[interval], requests])

describe('requests around midnight', () => {
  let userId: string
  const hours = ['14:30', '15:30', '23:30'].map((time) => `2026-11-10T${time}:00Z`)
  beforeAll(async () => {
    userId = await createCustomer(database)
    const requests = [...hours, '2026-11-11T00:30:00Z']
    await addRequestSums(
      database,
      requests.map((at, index) => ({ userId, at, requests: 10 ** index, cost: 1 })),
    )
  })

  test.each([
    [
      'UTC',
      [
        ['2026-11-10T00:00:00.000Z', 111],
        ['2026-11-11T00:00:00.000Z', 1000],
      ],
    ],
    [
      'Asia/Tokyo',
      [
        ['2026-11-09T15:00:00.000Z', 1],
        ['2026-11-10T15:00:00.000Z', 1110],
      ],
    ],
    ['America/Los_Angeles', [['2026-11-10T08:00:00.000Z', 1111]]],
  ])('are of the day that it is in %s', async (zone, expected) => {
    const span = { start_date: '2026-11-09', end_date: '2026-11-12', time_zone: zone }
    const breakdown = await read(userId, { ...span, granularity: 'day' })
    expect(byInterval(breakdown)).toEqual(expected)
    expect(breakdown.total.requests).toBe(1111)
    expect(breakdown.intervals).toHaveLength(4)
  })
})

test('groups beyond the limit are one, whose sums are in the total', async () => {
  const userId = await createCustomer(database)
  const costs = [4, 1, 3, 2]
  await addRequestSums(
    database,
    costs.map((cost, index) => ({
      userId,
      at: '2026-11-03T10:00:00Z',
      model: `fake/${index}`,
      cost: cost * 1e9,
    })),
  )
  const {
    groups,
    other,
    total,
    time_series: series,
  } = await read(userId, {
    granularity: 'day',
    limit: 2,
  })
  expect(groups.map(({ group, usage_cost: cost }) => [group.id, cost])).toEqual([
    ['fake/0', 4],
    ['fake/2', 3],
  ])
  expect(other).toMatchObject({ groups: 2, requests: 2, usage_cost: 3 })
  expect(total.usage_cost).toBe(10)
  expect(series.map(({ group, usage_cost: cost }) => [group, cost])).toEqual([
    [0, 4],
    [1, 3],
    [null, 3],
  ])
})

test('two groupings give a group for each pair, with names of keys that exist', async () => {
  const userId = await createCustomer(database)
  await sql`
    insert into api_key (id, user_id, name, key_prefix, hash, permissions)
    values ('key_named', ${userId}, 'Search', 'tg_named', sha256(${userId}::bytea), '{read}')`.execute(
    database.query,
  )
  const at = '2026-11-03T10:00:00Z'
  await addRequestSums(database, [
    { userId, at, model: 'one/a', keyId: 'key_named', cost: 3 },
    { userId, at, model: 'one/b', keyId: 'key_named', cost: 2 },
    { userId, at, model: 'two/a', keyId: 'key_gone', cost: 4 },
    { userId, at, model: '', keyId: 'key_gone', cost: 0 },
  ])
  const pairsOf = async (filter: Partial<BreakdownFilter>) => {
    const { groups } = await read(userId, { group_by: 'provider', split_by: 'key', ...filter })
    return groups.map(({ group, split, requests }) => [group.id, split?.id, split?.name, requests])
  }
  const named = ['one', 'key_named', 'Search', 2]
  expect(await pairsOf({})).toEqual([
    named,
    ['two', 'key_gone', null, 1],
    ['', 'key_gone', null, 1],
  ])
  expect(await pairsOf({ provider: 'one' })).toEqual([named])
  expect(await pairsOf({ model: 'two/a' })).toEqual([['two', 'key_gone', null, 1]])
})

test('usage that an organization paid is grouped by member and department', async () => {
  const [ada, ben, former] = [
    await createCustomer(database),
    await createCustomer(database),
    await createCustomer(database),
  ]
  const organizationId = `org_${ada.slice(5)}`
  await sql`insert into organization (id, name, billing_email) values (${organizationId}, 'Engines', 'billing@example.com')`.execute(
    database.query,
  )
  for (const [userId, department] of [
    [ada, 'Research'],
    [ben, null],
  ]) {
    await sql`
      insert into membership (organization_id, user_id, role, status, department)
      values (${organizationId}, ${userId}, 'member', 'active', ${department})`.execute(
      database.query,
    )
  }
  for (const [index, userId] of [ada, ben, former].entries()) {
    await sql`
      insert into usage_sum (grain, starts_at, account_id, user_id, key_id, model, requests, failures,
        cancellations, input_tokens, cached_input_tokens, cache_write_tokens, output_tokens,
        reasoning_tokens, audio_input_tokens, audio_output_tokens, duration_ms, cost, written_off,
        house_paid)
      values ('hour', '2026-11-03T10:00:00Z', ${organizationId}, ${userId}, 'key', 'fake/one', 4, 1, 1, 1, 2, 3, 4, 5, 6, 7,
        50, ${(3 - index) * 2e9}, 1000000000, 0)`.execute(database.query)
  }
  const account = { id: organizationId, organizationId }
  const readBy = async (filter: Partial<UsageBreakdownFilter>) => {
    const full = { ...november, split_by: undefined, group_by: 'member' as const, ...filter }
    const source = { ...breakdownSource(account, full), toFigures: toAccountFigures }
    const { groups } = await readBreakdown(database.query, source, {
      filter: full,
      nowMs,
    })
    return groups
  }
  expect(await readBy({})).toMatchObject([
    {
      group: { id: ada, name: 'Test' },
      requests: 4,
      failed_requests: 1,
      usage_cost: 5,
    },
    { group: { id: ben }, input_tokens: 12, output_tokens: 16, usage_cost: 3 },
    { group: { id: former }, cost: 1, usage_cost: 1 },
  ])
  expect(await readBy({ group_by: 'department', split_by: 'model' })).toMatchObject([
    { group: { id: 'Research', name: null }, split: { id: 'fake/one' }, usage_cost: 5 },
    { group: { id: '' }, requests: 8, usage_cost: 4 },
  ])
  expect(await readBy({ member_id: ben })).toMatchObject([{ group: { id: ben }, requests: 4 }])
})

const zones = [
  'UTC',
  'Asia/Tokyo',
  'America/Los_Angeles',
  'Europe/Berlin',
  'America/Sao_Paulo',
  'Pacific/Auckland',
  'Asia/Kolkata',
  'Asia/Kathmandu',
  'Australia/Lord_Howe',
]

/** The day of September 2026 with an index, which may be beyond its end. */
const dayAt = (index: number) => new Date(Date.UTC(2026, 8, index)).toISOString().slice(0, 10)
const nanos = (cost: number) => Math.round(cost * 1e9)

test('the sums of intervals and of groups are the total, which has the requests of the days in the zone', async () => {
  const quarter = fc.integer({ min: Date.parse('2026-09-10') / 900_000, max: nowMs / 900_000 })
  const day = fc.integer({ min: 11, max: 80 })
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.tuple(quarter, fc.integer({ min: 0, max: 4 }), fc.nat(1e12)), { maxLength: 30 }),
      fc.record({
        zone: fc.constantFrom(...zones),
        granularity: fc.constantFrom(...granularities),
        limit: fc.integer({ min: 1, max: 6 }),
      }),
      fc.tuple(day, day),
      async (rows, { zone, granularity, limit }, [one, other]) => {
        const userId = await createCustomer(database)
        const start = dayAt(Math.min(one, other))
        const end = dayAt(Math.min(Math.max(one, other), Math.min(one, other) + 25))
        const sums = rows.map(([at, model, cost]) => ({
          userId,
          at: new Date(at * 900_000).toISOString(),
          model: `fake/${model}`,
          cost,
        }))
        for (const sum of sums) await addRequestSums(database, [sum])
        const breakdown = await read(userId, {
          start_date: start,
          end_date: end,
          time_zone: zone,
          granularity,
          limit,
        })
        const dayIn = new Intl.DateTimeFormat('sv-SE', { timeZone: zone, dateStyle: 'short' })
        const within = sums.filter(({ at }) => {
          const text = dayIn.format(new Date(at))
          return text >= start && text <= end
        })
        const totalNanos = within.reduce((sum, { cost }) => sum + cost, 0)
        const { total, groups, other: others, time_series: series } = breakdown
        const parts = others ? [...groups, others] : groups
        for (const listed of [[total], parts, series]) {
          expect(listed.reduce((sum, { requests }) => sum + requests, 0)).toBe(within.length)
          expect(listed.reduce((sum, { usage_cost: cost }) => sum + nanos(cost), 0)).toBe(
            totalNanos,
          )
        }
      },
    ),
    { numRuns: 25 },
  )
})

test('more sums than an answer has are rejected', async () => {
  await expect(read('user_none', { granularity: 'day', limit: 1000 })).rejects.toMatchObject({
    code: 'invalid_request',
    param: 'limit',
  })
})

test('days in UTC are kept for longer than hours', async () => {
  const userId = await createCustomer(database)
  await addRequestSums(database, [{ userId, at: '2026-02-01T23:30:00Z', cost: 2 }])
  const { total } = await read(userId, { start_date: '2026-01-01', end_date: '2026-11-30' })
  expect(total.requests).toBe(1)
})
