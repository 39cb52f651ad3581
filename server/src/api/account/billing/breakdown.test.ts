import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import * as fc from '../../../../testing/property'
import { sql } from 'kysely'
import { readBreakdown } from './breakdown'
import type { BreakdownFilter, UsageBreakdown, UsageBreakdownFilter } from './breakdown-schema'
import { breakdownSource } from './breakdown-source'
import { granularities } from './schema'
import { sourceOf } from './sum-source'
import { openTestDatabase } from '../../../../testing/db/database'
import { createCustomer } from '../../../../testing/ledger/customer'
import type { Database } from '../../../platform/db/database'
import { toGrainStart } from '../../../platform/db/grains'

const nowMs = Date.parse('2026-11-30T12:00:00Z')
const stack = new AsyncDisposableStack()
let database: Database

interface Sum {
  userId: string
  at: string
  model?: string
  keyId?: string
  requests?: number
  /** Nano-dollars. */
  cost: number
  /** Without quarters of an hour, as before migration 0084. */
  grains?: readonly string[]
}

const allGrains = ['quarter_hour', 'hour', 'day']

const addSums = (sums: readonly Sum[]) =>
  Promise.all(
    sums.map(
      ({ userId, at, model = 'fake/one', keyId = 'key', requests = 1, cost, grains = allGrains }) =>
        sql`
        insert into request_sum (grain, starts_at, user_id, key_id, model, requests, successes, failures,
          cancellations, input_tokens, output_tokens, latency_ms, cost, own_cost, peak_concurrent)
        select grain, ${toGrainStart('at')}, ${userId}, ${keyId}, ${model}, ${requests}, ${requests},
          0, 0, 7, 3, 200, ${cost}, 0, 1
        from unnest(${[...grains]}::text[]) as grain cross join (select ${at}::timestamptz as at) as used
        on conflict (grain, user_id, starts_at, key_id, model) do update set
          requests = request_sum.requests + excluded.requests,
          cost = request_sum.cost + excluded.cost`.execute(database.query),
    ),
  )

const november: BreakdownFilter = {
  start_date: '2026-11-01',
  end_date: '2026-11-30',
  time_zone: 'UTC',
  group_by: 'model',
  limit: 100,
}

const read = (userId: string, filter: Partial<BreakdownFilter> = {}) =>
  readBreakdown(database.query, sourceOf({ id: userId, organizationId: null }), {
    filter: { ...november, ...filter },
    nowMs,
  })

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
    await addSums(requests.map((at, index) => ({ userId, at, requests: 10 ** index, cost: 1 })))
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
  await addSums(
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
  await addSums([
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
    const { groups } = await readBreakdown(database.query, breakdownSource(account, full), {
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
        for (const sum of sums) await addSums([sum])
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
  await addSums([{ userId, at: '2026-02-01T23:30:00Z', cost: 2 }])
  const { total } = await read(userId, { start_date: '2026-01-01', end_date: '2026-11-30' })
  expect(total.requests).toBe(1)
})

test('an hour without quarters counts on the day in which it begins, in every range', async () => {
  const userId = await createCustomer(database)
  const old = ['hour', 'day']
  // Midnight in Kolkata is 18:30 in UTC.
  await addSums([{ userId, at: '2026-11-09T18:45:00Z', requests: 10, cost: 1, grains: old }])
  await addSums([{ userId, at: '2026-11-09T18:45:00Z', model: 'fake/new', requests: 3, cost: 1 }])
  const requestsOn = async (start_date: string, end_date = start_date) =>
    (await read(userId, { start_date, end_date, time_zone: 'Asia/Kolkata' })).total.requests
  expect([await requestsOn('2026-11-09'), await requestsOn('2026-11-10')]).toEqual([10, 3])
  expect(await requestsOn('2026-11-09', '2026-11-10')).toBe(13)
})

test('a comparison has the days before beside each group, the others and the total', async () => {
  const userId = await createCustomer(database)
  const [now, before] = ['2026-11-03T10:00:00Z', '2026-10-20T10:00:00Z']
  await addSums([
    { userId, at: now, model: 'one/a', requests: 3, cost: 4e9 },
    { userId, at: now, model: 'one/b', cost: 2e9 },
    { userId, at: now, model: 'one/c', cost: 1e9 },
    { userId, at: before, model: 'one/a', requests: 2, cost: 5e9 },
    { userId, at: before, model: 'one/c', cost: 1e9 },
    { userId, at: before, model: 'one/gone', cost: 3e9 },
    // The day before those days.
    { userId, at: '2026-10-01T23:59:00Z', model: 'one/a', cost: 9e9 },
  ])
  const breakdown = await read(userId, { compare: 'previous', limit: 2 })
  expect(breakdown.previous_period).toEqual({
    start: '2026-10-02T00:00:00.000Z',
    end: '2026-11-01T00:00:00.000Z',
  })
  expect(breakdown.groups).toMatchObject([
    {
      group: { id: 'one/a' },
      previous: { requests: 2, usage_cost: 5 },
      change: { requests: 50, usage_cost: -20, tokens: 0 },
    },
    {
      group: { id: 'one/b' },
      previous: { requests: 0, usage_cost: 0 },
      change: { usage_cost: null },
    },
  ])
  expect(breakdown.other).toMatchObject({ groups: 1, previous: { usage_cost: 4, requests: 2 } })
  expect(breakdown.total).toMatchObject({
    usage_cost: 7,
    previous: { usage_cost: 9, requests: 4 },
    change: { usage_cost: -22.22 },
  })
  const without = await read(userId)
  expect(without).toMatchObject({ previous_period: null, total: { previous: null, change: null } })
})

test('groups that have no usage now are in the others of a comparison', async () => {
  const userId = await createCustomer(database)
  await addSums([{ userId, at: '2026-10-20T10:00:00Z', cost: 3e9 }])
  const { groups, other, total } = await read(userId, { compare: 'previous' })
  expect(groups).toEqual([])
  expect(other).toMatchObject({ groups: 0, requests: 0, previous: { usage_cost: 3 } })
  expect(total).toMatchObject({ usage_cost: 0, change: { usage_cost: -100 } })
})
