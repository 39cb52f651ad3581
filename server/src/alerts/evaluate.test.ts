import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { sql } from 'kysely'
import type { AlertType, AlertPeriod } from './alert'
import { createEvaluation } from './evaluate'
import { logRequests, type Requests } from '../../testing/alerts/requests'
import { runAlertRound } from './alert-round'
import { PromptEvaluations } from './prompt-evaluations'
import type { Database } from '../platform/db/database'
import { openTestDatabase } from '../../testing/db/database'
import { newId } from '../platform/db/id'
import { createCustomer } from '../../testing/ledger/customer'

const stack = new AsyncDisposableStack()
let database: Database

beforeAll(async () => {
  database = await openTestDatabase(stack)
})
afterAll(() => stack.disposeAsync())

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs
/** Half past an hour, so that windows begin within one. */
const nowMs = Date.UTC(2026, 1, 10, 12, 30)

interface WatchedAlert {
  type: AlertType
  threshold: number
  period?: AlertPeriod
  channels?: string[]
  name?: string
}

/** An account that is old, with an alert. */
async function watched({
  type,
  threshold,
  period = 'day',
  channels = [],
  name = 'x',
}: WatchedAlert) {
  const { query } = database
  const userId = await createCustomer(database)
  await sql`
    update users set created_at = ${new Date(nowMs - 400 * dayMs)} where id = ${userId}
  `.execute(query)
  const id = newId('alert')
  const alert = { id, user_id: userId, name, type, threshold, period, enabled: true, channels }
  await query.insertInto('alert').values(alert).execute()
  const log = (requests: Requests) => logRequests(query, userId, requests)
  return { userId, id, log }
}

const failed: unknown[] = []
const evaluateAt = (atMs: number) =>
  createEvaluation({
    db: database.query,
    nowMs: () => atMs,
    logDays: () => 30,
    onFailure: (_userId, error) => failed.push(error),
  })

const triggersOf = async (alertId: string) => {
  const rows = await database.query
    .selectFrom('alert_trigger')
    .select('value')
    .where('alert_id', '=', alertId)
    .orderBy('id')
    .execute()
  return rows.map(({ value }) => value)
}

/** What an alert measured; empty where it did not trigger. */
async function triggered({ userId, id }: { userId: string; id: string }, atMs = nowMs) {
  await evaluateAt(atMs)([userId])
  expect(failed).toEqual([])
  return triggersOf(id)
}

describe('the window', () => {
  test('begins to the millisecond, however hours and days lie', async () => {
    const alert = await watched({ type: 'cost_threshold', threshold: 0, period: 'day' })
    await alert.log({ atMs: nowMs - dayMs - 1, cost: 1_000_000_000n })
    await alert.log({ atMs: nowMs - dayMs, cost: 2_000_000_000n })
    await alert.log({ atMs: nowMs - dayMs + 29 * minuteMs, cost: 4_000_000_000n })
    await alert.log({ atMs: nowMs - dayMs + 40 * minuteMs, cost: 8_000_000_000n })
    await alert.log({ atMs: nowMs - 13 * hourMs, cost: 16_000_000_000n })
    await alert.log({ atMs: nowMs - minuteMs, cost: 32_000_000_000n })
    expect(await triggered(alert)).toEqual([62])
  })

  test('reads a month by days, except for its edge', async () => {
    const alert = await watched({ type: 'cost_threshold', threshold: 0, period: 'month' })
    const startMs = nowMs - 30 * dayMs
    await alert.log({ atMs: startMs - 1, cost: 1_000_000_000n })
    await alert.log({ atMs: startMs + 2 * hourMs, cost: 2_000_000_000n })
    await alert.log({ atMs: startMs + 9 * dayMs, cost: 4_000_000_000n })
    await alert.log({ atMs: nowMs, cost: 8_000_000_000n })
    expect(await triggered(alert)).toEqual([14])
  })

  test('finding B1: counts the cost of requests that an organization paid for, in the log and in sums', async () => {
    const alert = await watched({ type: 'cost_threshold', threshold: 0 })
    await alert.log({ atMs: nowMs - 1000, cost: 1_000_000_000n, accountId: 'org_1' })
    await alert.log({ atMs: nowMs - 3 * hourMs, cost: 2_000_000_000n, accountId: 'org_1' })
    await alert.log({ atMs: nowMs - dayMs + 1000, cost: 4_000_000_000n, accountId: 'org_1' })
    await alert.log({ atMs: nowMs - 1000, cost: 8_000_000_000n })
    expect(await triggered(alert)).toEqual([15])
  })
})

describe('each type', () => {
  test('error rate and latency, of the log and of sums', async () => {
    const rate = await watched({ type: 'error_rate', threshold: 20, period: 'hour' })
    const latency = await watched({ type: 'model_latency', threshold: 100, period: 'hour' })
    for (const { log } of [rate, latency]) {
      await log({ atMs: nowMs - 50 * minuteMs, count: 3, status: 'error', latencyMs: 9999 })
      await log({ atMs: nowMs - 40 * minuteMs, count: 6, latencyMs: 300 })
      await log({ atMs: nowMs - 10 * minuteMs, count: 3, latencyMs: 0 })
      await log({ atMs: nowMs - 10 * minuteMs, count: 50, status: 'cancelled', latencyMs: 9999 })
    }
    expect(await triggered(rate)).toEqual([25])
    expect(await triggered(latency)).toEqual([200])
  })

  test('a spike over the seven windows before', async () => {
    const alert = await watched({ type: 'usage_spike', threshold: 50, period: 'hour' })
    await alert.log({ atMs: nowMs - 8 * hourMs - 1, count: 90 })
    await alert.log({ atMs: nowMs - 8 * hourMs, count: 4 })
    await alert.log({ atMs: nowMs - 90 * minuteMs, count: 10 })
    await alert.log({ atMs: nowMs - 20 * minuteMs, count: 4 })
    expect(await triggered(alert)).toEqual([100])
  })

  test('unusual activity against the hours of a week', async () => {
    const alert = await watched({ type: 'unusual_activity', threshold: 0 })
    await alert.log({ atMs: nowMs - 8 * dayMs, count: 90 })
    await alert.log({ atMs: nowMs - 30 * minuteMs, count: 5 })
    expect(await triggered(alert)).toEqual([5])
  })

  test('limits by their peaks, months and overrides of the plan', async () => {
    const alert = await watched({ type: 'quota_limit', threshold: 40, period: 'week' })
    await alert.log({ atMs: nowMs - 3 * dayMs, count: 30, concurrent: 3 })
    await alert.log({ atMs: nowMs - 8 * dayMs, count: 60 })
    expect(await triggered(alert)).toEqual([50])
    await sql`
      update users set limits = '{"concurrent_requests": 4}' where id = ${alert.userId}
    `.execute(database.query)
    expect(await triggered(alert, nowMs + 8 * dayMs)).toEqual([50])
    await alert.log({ atMs: nowMs + 8 * dayMs, concurrent: 3 })
    expect(await triggered(alert, nowMs + 8 * dayMs)).toEqual([50, 75])
  })

  test('finding B1: a quota counts the spending limit that an organization has for the account', async () => {
    const alert = await watched({ type: 'quota_limit', threshold: 40 })
    await sql`
      insert into organization (id, name, billing_email, default_member_spending_limit)
      values ('org_b1', 'B1', 'b1@example.com', 4000000000)`.execute(database.query)
    await sql`
      insert into membership (organization_id, user_id, role, status)
      values ('org_b1', ${alert.userId}, 'member', 'active')`.execute(database.query)
    await sql`
      insert into organization_sum
      values ('org_b1', now()::date, ${alert.userId}, 'm/m', 1, 1, 1, 1, 3000000000, 0, 3000000000)
    `.execute(database.query)
    expect(await triggered(alert)).toEqual([75])
    await sql`
      update membership set spending_limit = 6000000000 where user_id = ${alert.userId}
    `.execute(database.query)
    expect(await triggered(alert, nowMs + 2 * dayMs)).toEqual([75, 50])
  })
})

describe('a trigger', () => {
  test('is sent once on each channel, for any number of evaluating processes', async () => {
    const alert = await watched({
      type: 'cost_threshold',
      threshold: 1,
      channels: ['email', 'dashboard'],
      name: 'Cost\r\n<b>',
    })
    await alert.log({ atMs: nowMs - 1000, cost: 2_000_000_000n })
    const evaluations = Array.from({ length: 8 }, () => evaluateAt(nowMs)([alert.userId]))
    const counts = await Promise.all(evaluations)
    expect(counts.filter((count) => count > 0)).toEqual([1])
    expect(await triggersOf(alert.id)).toEqual([2])
    const { query } = database
    const notices = await query
      .selectFrom('notification')
      .selectAll()
      .where('user_id', '=', alert.userId)
      .execute()
    expect(notices).toMatchObject([{ kind: 'alert', alert_id: alert.id }])
    const mails = await query
      .selectFrom('mail')
      .selectAll()
      .where('recipient', '=', `${alert.userId}@example.com`)
      .execute()
    expect(mails).toHaveLength(1)
    const row = await query
      .selectFrom('alert')
      .selectAll()
      .where('id', '=', alert.id)
      .executeTakeFirstOrThrow()
    expect(row).toMatchObject({ trigger_count: 1, last_triggered_at: new Date(nowMs) })
  })

  test('goes to no address that is not verified', async () => {
    const alert = await watched({ type: 'cost_threshold', threshold: 1, channels: ['email'] })
    const { query } = database
    await query
      .updateTable('users')
      .set({ email_verified: false })
      .where('id', '=', alert.userId)
      .execute()
    await alert.log({ atMs: nowMs - 1000, cost: 2_000_000_000n })
    expect(await triggered(alert)).toEqual([2])
    const recipient = `${alert.userId}@example.com`
    expect(
      await query.selectFrom('mail').selectAll().where('recipient', '=', recipient).execute(),
    ).toEqual([])
  })

  test('comes again after a window, and after its condition was false', async () => {
    const alert = await watched({ type: 'cost_threshold', threshold: 1, period: 'hour' })
    await alert.log({ atMs: nowMs - 1000, cost: 2_000_000_000n })
    expect(await triggered(alert)).toEqual([2])
    expect(await triggered(alert, nowMs + 30 * minuteMs)).toEqual([2])
    await alert.log({ atMs: nowMs + 59 * minuteMs, cost: 3_000_000_000n })
    expect(await triggered(alert, nowMs + 60 * minuteMs)).toEqual([2, 3])
    expect(await triggered(alert, nowMs + 3 * hourMs)).toEqual([2, 3])
    await alert.log({ atMs: nowMs + 3 * hourMs + minuteMs, cost: 4_000_000_000n })
    expect(await triggered(alert, nowMs + 3 * hourMs + 6 * minuteMs)).toEqual([2, 3, 4])
  })
})

test('J04: a round evaluates all accounts on one node, and continues where its time ended', async () => {
  const { query } = database
  await sql`delete from alert`.execute(query)
  await sql`
    insert into users (id, email, display_name)
    select 'user_many_' || n, 'many' || n || '@example.com', 'Test' from generate_series(1, 250) as n
  `.execute(query)
  await sql`
    insert into alert (id, user_id, name, type, threshold, period, enabled, channels)
    select 'alert_many_' || n, 'user_many_' || n, 'x', 'error_rate', 1, 'week', n <> 7, '{}'
    from generate_series(1, 250) as n`.execute(query)
  const evaluatedIds: string[] = []
  const clock = { ms: 0 }
  let other: unknown = 'did not come'
  const round = (): Promise<unknown> =>
    runAlertRound({
      db: query,
      evaluate: async (userIds) => {
        clock.ms += 10
        evaluatedIds.push(...userIds)
        // Another node comes between two batches.
        if (evaluatedIds.length === 200) other = await round()
        return evaluateAt(nowMs)(userIds)
      },
      nowMs: () => clock.ms,
      everyMs: minuteMs,
      budgetMs: 15,
    })
  expect(await round()).toEqual({ accounts: 200, triggered: 0, isComplete: false })
  expect(other).toBeUndefined()
  expect(await round()).toEqual({ accounts: 49, triggered: 0, isComplete: true })
  expect(await round()).toBeUndefined()
  expect(new Set(evaluatedIds).size).toBe(249)
  expect(failed).toEqual([])
})

test('evaluates soon after a request, once for many requests', async () => {
  const alert = await watched({ type: 'cost_threshold', threshold: 1 })
  await alert.log({ atMs: nowMs - 1000, cost: 2_000_000_000n })
  const batches: number[] = []
  const first = Promise.withResolvers<void>()
  const evaluations = new PromptEvaluations({
    evaluate: async (userIds) => {
      batches.push(userIds.length)
      const count = await evaluateAt(nowMs)(userIds)
      first.resolve()
      return count
    },
    everyMs: 1,
    onFailure: (error) => failed.push(error),
  })
  evaluations.soon([alert.userId, alert.userId])
  evaluations.soon([alert.userId])
  await first.promise
  await evaluations[Symbol.asyncDispose]()
  expect(batches[0]).toBe(1)
  expect(await triggersOf(alert.id)).toEqual([2])
  evaluations.soon([alert.userId])
  expect(batches.length).toBeLessThanOrEqual(2)
})
