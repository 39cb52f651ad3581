import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { createCustomer } from '../../testing/ledger/customer'
import { recordForTests } from '../../testing/ledger/event'
import { readWindows, type UsedBy } from './window-sums'
import { findWindow, windowUnits, type WindowRule } from '../platform/time-window'
import { settle } from './settle'
import type { UsageEvent } from './usage-event'
import { toOrphanRecord } from './usage-record'
import type { Database } from '../platform/db/database'
import { openTestDatabase } from '../../testing/db/database'
import { newId } from '../platform/db/id'
import type { UsageFilter } from '../platform/usage-filter'

const stack = new AsyncDisposableStack()
let database: Database

beforeAll(async () => {
  database = await openTestDatabase(stack)
})
afterAll(() => stack.disposeAsync())

const february = { fromMs: Date.UTC(2026, 1), toMs: Date.UTC(2026, 2) }

const book = (userId: string, ...events: Partial<UsageEvent>[]) =>
  settle(
    database.query,
    events.map((fields) => recordForTests(userId, fields)),
  )

const read = async (
  uses: readonly Pick<UsedBy, 'id' | 'userId'>[],
  unbooked: readonly { id: string; startedAt: string }[] = [],
) => {
  const usedBy = uses.map((use) => ({ ...use, subjectId: use.id, window: february }))
  const { sums, bookedIds } = await readWindows(database.query, {
    usedBy,
    unbooked: () => unbooked,
  })
  return { sums: Object.fromEntries(sums), booked: bookedIds }
}

const day = (text: string) => ({ startedAt: `2026-${text}Z` })

test('sums an account over its keys, a key alone, and bounds the month exactly in UTC', async () => {
  const [userId, keyId, otherKey] = [
    await createCustomer(database, 1000n),
    newId('key'),
    newId('key'),
  ]
  const stranger = await createCustomer(database, 1000n)
  await book(
    userId,
    { keyId, cost: 1n, ...day('01-31T23:59:59.999') },
    { keyId, cost: 10n, ...day('02-01T00:00:00.000') },
    { keyId, cost: 20n, ...day('02-28T23:59:59.999') },
    { keyId: otherKey, cost: 40n, model: 'fake/other', ...day('02-14T12:00:00.000') },
    { keyId, cost: 2n, ...day('03-01T00:00:00.000') },
  )
  await book(stranger, { keyId: newId('key'), cost: 80n, ...day('02-14T12:00:00.000') })
  const account = { id: userId, userId }
  expect(await read([account, { id: keyId, userId }, { id: otherKey, userId }])).toEqual({
    sums: {
      [userId]: { requests: 3, spent: 70n, tokens: 84n },
      [keyId]: { requests: 2, spent: 30n, tokens: 56n },
      [otherKey]: { requests: 1, spent: 40n, tokens: 28n },
    },
    booked: [],
  })
  // A key is only found below its own account.
  expect((await read([{ id: keyId, userId: stranger }])).sums).toEqual({
    [keyId]: { requests: 0, spent: 0n, tokens: 0n },
  })
})

test('counts the charge, and of each request only its last attempt', async () => {
  const [userId, keyId] = [await createCustomer(database, 25n), newId('key')]
  await book(
    userId,
    { keyId, cost: 20n, ...day('02-02T00:00:00.000') },
    // Only 5 are left: the rest is the house's.
    { keyId, cost: 20n, ...day('02-02T00:00:01.000') },
    { keyId, outcome: 'failed_over', ...day('02-02T00:00:02.000') },
    { keyId, outcome: 'provider_error', ...day('02-02T00:00:03.000') },
    { keyId, accountId: null, outcome: 'ok', ...day('02-02T00:00:04.000') },
  )
  const { rows } = await sql<{ requests: bigint; failures: bigint }>`
    select sum(requests)::bigint as requests, sum(failures)::bigint as failures from usage_sum
    where user_id = ${userId} and grain = 'day'`.execute(database.query)
  expect(rows).toEqual([{ requests: 4n, failures: 1n }])
  expect(
    (
      await read([
        { id: userId, userId },
        { id: keyId, userId },
      ])
    ).sums,
  ).toEqual({
    [userId]: { requests: 4, spent: 25n, tokens: 140n },
    [keyId]: { requests: 4, spent: 25n, tokens: 140n },
  })
})

test('counts a payment by another party for the key, not for the account', async () => {
  const [userId, payer, keyId] = [
    await createCustomer(database, 0n),
    await createCustomer(database, 100n),
    newId('key'),
  ]
  await book(userId, { keyId, accountId: payer, cost: 30n, ...day('02-03T00:00:00.000') })
  expect(
    (
      await read([
        { id: userId, userId },
        { id: keyId, userId },
      ])
    ).sums,
  ).toEqual({
    [userId]: { requests: 1, spent: 0n, tokens: 28n },
    [keyId]: { requests: 1, spent: 30n, tokens: 28n },
  })
})

test('returns which of the given events are booked', async () => {
  const userId = await createCustomer(database, 100n)
  const events = [1, 2, 3].map((second) => ({
    id: newId('att'),
    ...day(`02-04T00:00:0${second}.000`),
  }))
  await book(userId, ...events.slice(0, 2))
  const { booked } = await read([{ id: userId, userId }], events)
  expect(new Set(booked)).toEqual(new Set(events.slice(0, 2).map(({ id }) => id)))
})

const zones = [
  'UTC',
  'Europe/Berlin',
  'America/St_Johns',
  'Asia/Kolkata',
  'Asia/Kathmandu',
] as const

test('counts exactly the usage of a window, of each length and in each zone', async () => {
  const [userId, keyId] = [await createCustomer(database, 1_000_000n), newId('key')]
  const atMs = Date.parse('2026-03-11T17:20:00.000Z')
  const rules = zones.flatMap((timeZone) =>
    windowUnits.map((unit): WindowRule => ({ unit, timeZone, firstWeekday: 7 })),
  )
  const windows = rules.map((rule) => findWindow(rule, atMs))
  // One before each end of a window, and one at it.
  const edges = new Set(windows.flatMap(({ fromMs, toMs }) => [fromMs, toMs]))
  const times = [...edges]
    .filter((ms) => Number.isFinite(ms) && ms > 0)
    .flatMap((ms) => [ms - 1, ms])
  const events = times.map((ms, index) => ({
    keyId,
    cost: BigInt(index * index + 1),
    startedAt: new Date(ms).toISOString(),
  }))
  await book(userId, ...events)
  const { sums } = await readWindows(database.query, {
    usedBy: windows.map((window, index) => ({
      id: String(index),
      subjectId: keyId,
      userId,
      window,
    })),
    unbooked: () => [],
  })
  for (const [index, { fromMs, toMs }] of windows.entries()) {
    const own = events.filter((_event, at) => {
      const ms = times[at] ?? 0
      return ms >= fromMs && ms < toMs
    })
    const spent = own.reduce((sum, { cost }) => sum + cost, 0n)
    expect([rules[index], sums.get(String(index))]).toEqual([
      rules[index],
      { requests: own.length, spent, tokens: 28n * BigInt(own.length) },
    ])
  }
})

const filters: Record<string, UsageFilter> = {
  model: { models: ['fake/ok'], providers: null, tags: null },
  models: { models: ['fake/other', 'own/*'], providers: null, tags: null },
  provider: { models: null, providers: ['own'], tags: null },
  tag: { models: null, providers: null, tags: ['batch'] },
  tags: { models: null, providers: null, tags: ['batch', 'team:x'] },
  modelAndTag: { models: ['own/*'], providers: ['fake', 'own'], tags: ['batch'] },
}

/** The sum of requests of the tests, each of 28 tokens. */
const sum = (requests: number, spent: bigint) => ({
  requests,
  spent,
  tokens: 28n * BigInt(requests),
})

test('counts exactly the requests of a filter, by model, provider and tags', async () => {
  const [userId, keyId, otherKey] = [
    await createCustomer(database, 1000n),
    newId('key'),
    newId('key'),
  ]
  const at = (second: number) => day(`02-03T00:00:0${second}.000`)
  await book(
    userId,
    { keyId, cost: 1n, ...at(0) },
    { keyId, cost: 2n, model: 'fake/other', ...at(1) },
    { keyId, cost: 4n, model: 'own/a/b', budgetTags: ['batch'], ...at(2) },
    { keyId, cost: 8n, budgetTags: ['batch', 'team:x'], ...at(3) },
    { keyId: otherKey, cost: 16n, model: 'own/a/b', budgetTags: ['batch'], ...at(4) },
    { keyId, cost: 32n, budgetTags: ['team:x'], ...at(5) },
    { keyId, cost: 64n, budgetTags: ['batch'], ...day('03-01T00:00:00.000') },
  )
  const readAs = async (subjectId: string) => {
    const usedBy = Object.entries(filters).map(([id, filter]) => ({
      id,
      subjectId,
      userId,
      filter,
      window: february,
    }))
    const { sums } = await readWindows(database.query, { usedBy, unbooked: () => [] })
    return Object.fromEntries(sums)
  }
  expect(await readAs(userId)).toEqual({
    model: sum(3, 41n),
    models: sum(3, 22n),
    provider: sum(2, 20n),
    tag: sum(3, 28n),
    tags: sum(1, 8n),
    modelAndTag: sum(2, 20n),
  })
  expect(await readAs(keyId)).toMatchObject({ provider: sum(1, 4n), tag: sum(2, 12n) })
})

test('an attempt that was recorded as dead, and settles later, counts once by its tags', async () => {
  const userId = await createCustomer(database, 1000n)
  const fields = {
    id: newId('att'),
    budgetTags: ['batch'],
    cost: 5n,
    ...day('02-05T00:00:00.000'),
  }
  const record = recordForTests(userId, fields)
  await settle(database.query, [toOrphanRecord(record)])
  await settle(database.query, [record])
  await settle(database.query, [record])
  const filter = { models: null, providers: null, tags: ['batch'] }
  const usedBy = [{ id: 'one', subjectId: userId, userId, filter, window: february }]
  const { sums } = await readWindows(database.query, { usedBy, unbooked: () => [] })
  expect(sums.get('one')).toMatchObject({ requests: 1, spent: 5n })
})
