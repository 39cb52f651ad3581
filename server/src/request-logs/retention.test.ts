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
