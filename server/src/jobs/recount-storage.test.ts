import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { recountStorage } from './recount-storage'
import type { Database } from '../platform/db/database'
import { openTestDatabase } from '../../testing/db/database'
import { createCustomer } from '../../testing/ledger/customer'

const stack = new AsyncDisposableStack()
let database: Database

beforeAll(async () => {
  database = await openTestDatabase(stack)
})
afterAll(() => stack.disposeAsync())

test('finding S22: wrong sums are corrected and reported, missing ones are counted', async () => {
  const [right, wrong, uncounted, recent] = await Promise.all(
    Array.from({ length: 4 }, () => createCustomer(database)),
  )
  await sql`
    insert into prompt (id, user_id, title, content)
    select 'prompt_' || id, id, 'A', repeat('x', 1000) from users`.execute(database.query)
  const spoil = (userId = '', countedAt = '') =>
    sql`
      update account_storage set texts = 1, counted_at = ${countedAt}::timestamptz
      where user_id = ${userId}`.execute(database.query)
  await sql`
    update account_storage set counted_at = now() - interval '2 days'
    where user_id = ${right}`.execute(database.query)
  await spoil(wrong, 'yesterday')
  await sql`
    update account_storage set counted_at = now() - interval '2 days'
    where user_id = ${wrong}`.execute(database.query)
  await spoil(uncounted, '-infinity')
  await spoil(recent, 'now')
  const reported: unknown[] = []
  await recountStorage(database.query, { error: (fields: unknown) => void reported.push(fields) })
  const { rows } = await sql<{ user_id: string; texts: bigint }>`
    select user_id, texts from account_storage`.execute(database.query)
  const texts = new Map(rows.map((row) => [row.user_id, Number(row.texts)]))
  const exact = 1000 + 1 + '{}'.length + 256
  expect([right, wrong, uncounted, recent].map((id = '') => texts.get(id))).toEqual([
    exact,
    exact,
    exact,
    1,
  ])
  expect(reported).toEqual([{ userId: wrong, bytes: exact - 1 }])
})
