import { afterAll, beforeAll, expect, test } from 'bun:test'
import * as fc from '../../testing/property'
import { createCustomer } from '../../testing/ledger/customer'
import { createTestEvent, recordForTests } from '../../testing/ledger/event'
import { readWindows } from './window-sums'
import { settle } from './settle'
import type { UsageEvent } from './usage-event'
import { toOrphanRecord } from './usage-record'
import type { Database } from '../platform/db/database'
import { openTestDatabase } from '../../testing/db/database'
import { newId } from '../platform/db/id'

const stack = new AsyncDisposableStack()
let database: Database

beforeAll(async () => {
  database = await openTestDatabase(stack)
})
afterAll(() => stack.disposeAsync())

const day = (text: string) => ({ startedAt: `2026-${text}Z` })

const sumsOf = (organizationId: string) =>
  database.query
    .selectFrom('organization_sum')
    .select(['user_id', 'model', 'requests', 'input_tokens', 'output_tokens'])
    .select(['duration_ms', 'price', 'cost', 'spent'])
    .where('organization_id', '=', organizationId)
    .orderBy('day')
    .orderBy('user_id')
    .orderBy('model')
    .execute()

const book = (events: readonly Partial<UsageEvent>[], userId: string) =>
  settle(
    database.query,
    events.map((fields) => recordForTests(userId, fields)),
  )

test('adds an event to its organization’s sums: tokens, price, charge, spending', async () => {
  const [organizationId, pool] = [newId('org'), await createCustomer(database, 1000n)]
  const user = await createCustomer(database, 1000n)
  const at = day('02-03T10:00:00.000')
  await book(
    [
      { organizationId, billingMode: 'org_pays', accountId: pool, price: 70n, cost: 7n, ...at },
      { organizationId, billingMode: 'member_pays', cost: 50n, ...at },
      { organizationId, accountId: null, billingMode: 'free', outcome: 'failed_over', ...at },
      { organizationId: null, cost: 500n, ...at },
    ],
    user,
  )
  // Each event for tests has 12 tokens in, 16 out, and took 12 ms.
  expect(await sumsOf(organizationId)).toEqual([
    {
      user_id: user,
      model: 'fake/ok',
      requests: 2n,
      input_tokens: 36n,
      output_tokens: 48n,
      duration_ms: 24n,
      price: 120n,
      cost: 57n,
      // Neither is the organization's own account here.
      spent: 0n,
    },
  ])
})

test('I4: counts events once that are sent twice, in any batches', async () => {
  const pool = await createCustomer(database, 10_000_000n)
  const user = await createCustomer(database)
  const amount = fc.bigInt({ min: 0n, max: 1000n })
  const one = fc.record({
    cost: amount,
    price: fc.option(amount),
    day: fc.integer({ min: 1, max: 4 }),
  })
  const batches = fc.array(fc.array(fc.nat(30), { maxLength: 6 }), { minLength: 1, maxLength: 5 })
  const property = fc.asyncProperty(
    fc.array(one, { minLength: 1, maxLength: 12 }),
    batches,
    async (events, order) => {
      const before = await spentOf(pool)
      const records = events.map(({ cost, price, day: date }) =>
        recordForTests(user, {
          accountId: pool,
          organizationId: pool,
          cost,
          price,
          ...day(`02-0${date}T00:00:00.000`),
        }),
      )
      for (const batch of order) {
        await settle(
          database.query,
          batch.flatMap((at) => records[at] ?? []),
        )
      }
      await settle(database.query, records)
      const wanted = events.reduce((sum, { cost, price }) => sum + (price ?? cost), 0n)
      const after = await spentOf(pool)
      expect([after.spent - before.spent, after.requests - before.requests]).toEqual([
        wanted,
        BigInt(events.length),
      ])
    },
  )
  await fc.assert(property, { numRuns: 25 })
})

async function spentOf(organizationId: string) {
  const sums = await sumsOf(organizationId)
  const total = (name: 'spent' | 'requests') => sums.reduce((sum, row) => sum + row[name], 0n)
  return { spent: total('spent'), requests: total('requests') }
}

test('M34: counts an orphan that settles as its settlement', async () => {
  const pool = await createCustomer(database, 1000n)
  const event = createTestEvent(pool, {
    organizationId: pool,
    billingMode: 'org_pays',
    price: 30n,
    ...day('02-05T00:00:00.000'),
  })
  const record = recordForTests(pool, event)
  await settle(database.query, [toOrphanRecord(recordForTests(pool, { ...event, price: null }))])
  await settle(database.query, [record])
  await settle(database.query, [record])
  expect(await spentOf(pool)).toEqual({ spent: 30n, requests: 1n })
})

test('3.1: sums a month of an organization over all members, of a member alone', async () => {
  const pool = await createCustomer(database, 10_000n)
  const [one, other] = [await createCustomer(database), await createCustomer(database)]
  const shared = { accountId: pool, organizationId: pool }
  await book([{ ...shared, cost: 1n, ...day('01-31T23:59:59.999') }], one)
  await book([{ ...shared, cost: 10n, ...day('02-01T00:00:00.000') }], one)
  await book([{ ...shared, cost: 20n, ...day('02-28T23:59:59.999') }], other)
  await book([{ ...shared, cost: 2n, ...day('03-01T00:00:00.000') }], other)
  const window = { fromMs: Date.UTC(2026, 1), toMs: Date.UTC(2026, 2) }
  const usedBy = [
    { id: pool, userId: one, organizationId: pool },
    { id: 'one', userId: one, organizationId: pool },
    { id: 'other', userId: other, organizationId: pool },
    { id: 'stranger', userId: newId('user'), organizationId: pool },
    // An account that owns a pool's id is none: it paid nothing of it.
    { id: one, userId: one },
  ].map((use) => ({ ...use, subjectId: use.id, window }))
  const { sums } = await readWindows(database.query, { usedBy, unbooked: () => [] })
  expect(Object.fromEntries(sums)).toEqual({
    [pool]: { requests: 2, spent: 30n, tokens: 56n },
    one: { requests: 1, spent: 10n, tokens: 28n },
    other: { requests: 1, spent: 20n, tokens: 28n },
    stranger: { requests: 0, spent: 0n, tokens: 0n },
    [one]: { requests: 1, spent: 0n, tokens: 28n },
  })
})
