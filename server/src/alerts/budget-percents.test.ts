import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { notifyBudgetPercents } from './budget-percents'
import { findReachedPercent } from './reached-percent'
import { findWatchedAccounts } from './watched-alerts'
import { openTestDatabase } from '../../testing/db/database'
import { createCustomer } from '../../testing/ledger/customer'
import { recordForTests } from '../../testing/ledger/event'
import { settle } from '../ledger/settle'
import type { Database } from '../platform/db/database'
import { newId } from '../platform/db/id'

const stack = new AsyncDisposableStack()
let database: Database

beforeAll(async () => {
  database = await openTestDatabase(stack)
})
afterAll(() => stack.disposeAsync())

const usd = 1_000_000_000n
const dayMs = 86_400_000
const nowMs = Date.UTC(2026, 1, 10, 12, 30)

interface BudgetFields {
  spend?: bigint | null
  requests?: number | null
  notify_percents?: readonly number[]
  enforcement?: 'hard' | 'soft'
}

/** An account with one daily budget. */
async function createBudget(fields: BudgetFields = {}) {
  const userId = await createCustomer(database, 100n * usd)
  const id = newId('budget')
  await database.query
    .insertInto('budget')
    .values({
      id,
      user_id: userId,
      name: 'Daily',
      spend: 10n * usd,
      notify_percents: [50, 80, 100],
      window_unit: 'day',
      time_zone: 'UTC',
      first_weekday: 1,
      ...fields,
    })
    .execute()
  return { id, userId }
}

const spend = (userId: string, cost: bigint, atMs = nowMs) =>
  settle(database.query, [
    recordForTests(userId, { cost, startedAt: new Date(atMs).toISOString() }),
  ])

const evaluate = (userId: string, atMs = nowMs) =>
  notifyBudgetPercents(database.query, [userId], atMs)

const noticesOf = async (userId: string) => {
  const rows = await database.query
    .selectFrom('notification')
    .select('title')
    .where('user_id', '=', userId)
    .orderBy('id')
    .execute()
  return rows.map(({ title }) => title)
}

const mailsTo = (userId: string) =>
  database.query
    .selectFrom('mail')
    .select(['subject', 'body'])
    .where('recipient', '=', `${userId}@example.com`)
    .orderBy('id')
    .execute()

describe('the highest percent reached', () => {
  test.each([
    ['below all', { percents: [80, 100], used: 79n, amount: 100n, reached: undefined }],
    ['exactly one', { percents: [80, 100], used: 80n, amount: 100n, reached: 80 }],
    ['several', { percents: [50, 80, 100], used: 99n, amount: 100n, reached: 80 }],
    ['above the amount', { percents: [80, 150], used: 150n, amount: 100n, reached: 150 }],
    ['without percents', { percents: [], used: 5n, amount: 1n, reached: undefined }],
    ['of nothing, unused', { percents: [80], used: 0n, amount: 0n, reached: undefined }],
    ['of nothing, used', { percents: [80, 100], used: 1n, amount: 0n, reached: 100 }],
  ])('%s', (_name, { percents, used, amount, reached }) => {
    expect(findReachedPercent(percents, { used, amount })).toBe(reached)
  })
})

describe('a budget', () => {
  test('notifies once of a percent in a window, and again in the next', async () => {
    const { userId } = await createBudget()
    await spend(userId, 4n * usd)
    expect(await evaluate(userId)).toBe(0)
    await spend(userId, 4n * usd)
    expect(await evaluate(userId)).toBe(1)
    await spend(userId, usd)
    expect(await evaluate(userId)).toBe(0)
    await spend(userId, usd)
    expect(await evaluate(userId)).toBe(1)
    await spend(userId, 6n * usd, nowMs + dayMs)
    expect(await evaluate(userId, nowMs + dayMs)).toBe(1)
    expect(await noticesOf(userId)).toEqual([
      'Budget at 80%: Daily',
      'Budget at 100%: Daily',
      'Budget at 50%: Daily',
    ])
    const [mail] = await mailsTo(userId)
    expect(mail).toEqual({
      subject: 'Budget at 80%: Daily',
      body: 'Your budget "Daily" has reached 80%. It has used $8.00 of $10.00, and it resets at 2026-02-11 00:00 UTC. Requests that the rest does not cover are rejected.\n',
    })
  })

  test('notifies once, for any number of processes', async () => {
    const { userId, id } = await createBudget()
    await spend(userId, 9n * usd)
    const counts = await Promise.all(Array.from({ length: 8 }, () => evaluate(userId)))
    expect(counts.filter((count) => count > 0)).toEqual([1])
    expect([(await noticesOf(userId)).length, (await mailsTo(userId)).length]).toEqual([1, 1])
    const row = await database.query
      .selectFrom('budget')
      .selectAll()
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    expect(row).toMatchObject({
      notified_window: new Date(Date.UTC(2026, 1, 10)),
      notified_percent: 80,
    })
  })

  test('does not return to the window before by a clock that is behind', async () => {
    const { userId } = await createBudget()
    await spend(userId, 9n * usd)
    await spend(userId, 6n * usd, nowMs + dayMs)
    expect(await evaluate(userId, nowMs + dayMs)).toBe(1)
    expect(await evaluate(userId)).toBe(0)
    expect(await noticesOf(userId)).toEqual(['Budget at 50%: Daily'])
  })

  test('notifies of a percent that is added below its use, and not of a lower one', async () => {
    const { userId, id } = await createBudget({ notify_percents: [80] })
    await spend(userId, 9n * usd)
    expect(await evaluate(userId)).toBe(1)
    const setPercents = (percents: number[]) =>
      database.query
        .updateTable('budget')
        .set({ notify_percents: percents, updated_at: new Date() })
        .where('id', '=', id)
        .where('user_id', '=', userId)
        .execute()
    await setPercents([50, 80])
    expect(await evaluate(userId)).toBe(0)
    await setPercents([80, 85])
    expect(await evaluate(userId)).toBe(1)
    expect(await noticesOf(userId)).toEqual(['Budget at 80%: Daily', 'Budget at 85%: Daily'])
  })

  test('in requests that only notifies goes beyond its amount', async () => {
    const { userId } = await createBudget({
      spend: null,
      requests: 2,
      enforcement: 'soft',
      notify_percents: [150],
    })
    for (let count = 0; count < 3; count++) await spend(userId, 1n)
    expect(await evaluate(userId)).toBe(1)
    const [mail] = await mailsTo(userId)
    expect(mail?.body).toContain('has reached 150%. It has used 3 of 2 requests, and it resets at')
    expect(mail?.body).toEndWith('It rejects no requests.\n')
  })

  test('sends no mail to an address that is not verified', async () => {
    const { userId } = await createBudget()
    await sql`update users set email_verified = false where id = ${userId}`.execute(database.query)
    await spend(userId, 9n * usd)
    expect(await evaluate(userId)).toBe(1)
    expect([(await noticesOf(userId)).length, await mailsTo(userId)]).toEqual([1, []])
  })
})

test('a round evaluates accounts with a budget that notifies, and no others', async () => {
  const { userId } = await createBudget()
  const silent = await createBudget({ notify_percents: [] })
  const found = await findWatchedAccounts(database.query, '', 1000)
  expect(found).toContain(userId)
  expect(found).not.toContain(silent.userId)
})
