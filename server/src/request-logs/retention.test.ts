import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { purgeOldLogs } from './retention'
import type { Database } from '../platform/db/database'
import { openTestDatabase } from '../../testing/db/database'
import { createCustomer } from '../../testing/ledger/customer'
import { dayWaitMs, untilDayLasts } from '../../testing/calendar'

const stack = new AsyncDisposableStack()
let database: Database

beforeAll(async () => {
  await untilDayLasts()
  database = await openTestDatabase(stack)
}, 30_000 + dayWaitMs)
afterAll(() => stack.disposeAsync())

const rowBytes = 256

test('finding S22: bodies that go with their day give back the room that they took', async () => {
  const userId = await createCustomer(database)
  // Of these days one has a partition, the others are in the default one.
  await sql`
    do $$ begin
      execute format(
        'create table request_body_%s partition of request_body for values from (%L) to (%L)',
        to_char(now() at time zone 'UTC' - interval '40 days', 'YYYYMMDD'),
        date_trunc('day', now(), 'UTC') - interval '40 days',
        date_trunc('day', now(), 'UTC') - interval '39 days'
      );
    end $$`.execute(database.query)
  await sql`
    insert into request_body (id, started_at, user_id, request_body)
    select 'req_' || n, date_trunc('day', now(), 'UTC') - make_interval(days => n),
      ${userId}, repeat('x', 1000)
    from unnest(array[40, 35, 31, 3, 0]) as n`.execute(database.query)
  const bodies = async () => {
    const { rows } = await sql<{ bodies: bigint; days: bigint }>`
      select bodies, (select sum(bytes)::bigint from logged_bytes where user_id = ${userId}) as days
      from account_storage where user_id = ${userId}`.execute(database.query)
    return rows.map((row) => [Number(row.bodies), Number(row.days)])
  }
  expect(await bodies()).toEqual([[5 * (1000 + rowBytes), 5 * (1000 + rowBytes)]])
  const { partitions } = await purgeOldLogs(database.query, 30)
  expect(partitions).toHaveLength(1)
  expect(await bodies()).toEqual([[2 * (1000 + rowBytes), 2 * (1000 + rowBytes)]])
  const { rows } = await sql<{ wrong: bigint }>`
    select recount_stored(${userId}) as wrong`.execute(database.query)
  expect(rows).toEqual([{ wrong: 0n }])
})

interface Kept {
  userId: string
  organizationId?: string
}

const ages = [40, 35, 3]

/** Inserts a log and a body of each age in days. */
async function insertRequests({ userId, organizationId }: Kept): Promise<void> {
  await sql`
    insert into request_log (id, started_at, user_id, method, endpoint, streamed, requested_model,
      model, status, status_code, latency_ms, input_tokens, output_tokens, estimated, cost,
      platform_fee, organization_id, concurrent, ip_address, user_agent)
    select ${userId} || '_' || n, date_trunc('day', now(), 'UTC') - make_interval(days => n),
      ${userId}, 'POST', '/v1/chat/completions', false, 'm', 'm', 'success', 200, 1, 1, 1, false, 1,
      0, ${organizationId ?? null}, 1, '', ''
    from unnest(${ages}::integer[]) as n`.execute(database.query)
  await sql`
    insert into request_body (id, started_at, user_id, request_body)
    select ${userId} || '_' || n, date_trunc('day', now(), 'UTC') - make_interval(days => n),
      ${userId}, 'x'
    from unnest(${ages}::integer[]) as n`.execute(database.query)
}

async function agesOf(table: 'request_log' | 'request_body', userId: string): Promise<number[]> {
  const { rows } = await sql<{ age: number }>`
    select (now() at time zone 'UTC')::date - (started_at at time zone 'UTC')::date as age
    from ${sql.table(table)} where user_id = ${userId} order by 1 desc`.execute(database.query)
  return rows.map(({ age }) => age)
}

test('a legal hold keeps logs and bodies of an account and of an organization until it ends', async () => {
  const { query } = database
  const [person, member, other] = [
    await createCustomer(database),
    await createCustomer(database),
    await createCustomer(database),
  ]
  const organizationId = 'org_held'
  // Of these days one has partitions, in which rows of all lie.
  for (const table of ['request_log', 'request_body'] as const) {
    await sql`
      do $$ begin
        execute format(
          'create table %s partition of ${sql.raw(table)} for values from (%L) to (%L)',
          '${sql.raw(table)}_' || to_char(now() at time zone 'UTC' - interval '40 days', 'YYYYMMDD'),
          date_trunc('day', now(), 'UTC') - interval '40 days',
          date_trunc('day', now(), 'UTC') - interval '39 days'
        );
      end $$`.execute(query)
  }
  await insertRequests({ userId: person })
  await insertRequests({ userId: member, organizationId })
  await insertRequests({ userId: other })
  for (const [id, subject_id] of [
    ['hold_1', person],
    ['hold_2', organizationId],
  ] as const) {
    await query.insertInto('legal_hold').values({ id, subject_id, reason: 'Case 1.' }).execute()
  }
  expect((await purgeOldLogs(query, 30)).partitions).toEqual([])
  for (const table of ['request_log', 'request_body'] as const) {
    expect(await agesOf(table, person)).toEqual(ages)
    expect(await agesOf(table, member)).toEqual(ages)
    expect(await agesOf(table, other)).toEqual([3])
  }
  await query.updateTable('legal_hold').set({ ended_at: new Date() }).execute()
  expect((await purgeOldLogs(query, 30)).partitions).toHaveLength(2)
  for (const userId of [person, member, other]) {
    expect(await agesOf('request_log', userId)).toEqual([3])
    expect(await agesOf('request_body', userId)).toEqual([3])
    const { rows } = await sql<{ wrong: bigint }>`
      select recount_stored(${userId}) as wrong`.execute(query)
    expect(rows).toEqual([{ wrong: 0n }])
  }
})
