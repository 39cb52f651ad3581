import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sql } from 'kysely'
import type { Database } from './database'
import { isStorageFull } from '../storage-full'
import { openTestDatabase } from '../../../testing/db/database'
import { createCustomer } from '../../../testing/ledger/customer'

const stack = new AsyncDisposableStack()
let database: Database

beforeAll(async () => {
  database = await openTestDatabase(stack)
})
afterAll(() => stack.disposeAsync())

const megabyte = 1024 * 1024

const sumsOf = async (userId: string) => {
  const { rows } = await sql<Record<string, bigint>>`
    select responses, running, conversations, answers, bodies, texts
    from account_storage where user_id = ${userId}`.execute(database.query)
  const [row] = rows
  return Object.fromEntries(Object.entries(row ?? {}).map(([kind, bytes]) => [kind, Number(bytes)]))
}

const totalOf = async (userId: string) =>
  Object.values(await sumsOf(userId)).reduce((sum, bytes) => sum + bytes, 0)

const recount = async (userId: string) => {
  const { rows } = await sql<{ wrong: bigint }>`
    select recount_stored(${userId}) as wrong`.execute(database.query)
  return Number(rows[0]?.wrong)
}

/** Rows say how large they are: what counts is the sum. */
const addResponse = (userId: string, id: string, bytes: number) =>
  sql`
    insert into stored_response (id, user_id, input, response, bytes)
    values (${id}, ${userId}, '[]', '{}', ${bytes})`.execute(database.query)

const addRunning = (userId: string, id: string, bytes: number) =>
  sql`
    insert into stored_response (id, user_id, input, response, bytes, running_until)
    values (${id}, ${userId}, '[]', '{}', ${bytes}, now() + interval '1 hour')`.execute(
    database.query,
  )

const addConversation = (userId: string, id: string, bytes: number) =>
  sql`
    insert into conversation (id, user_id, metadata, bytes, items)
    values (${id}, ${userId}, '{}', ${bytes}, 2)`.execute(database.query)

const addAnswer = (userId: string, key: string, bytes: number) =>
  sql`
    insert into idempotency_key (user_id, key, request_hash, claim_id, state, leased_until,
      expires_at, request_id, status, headers, body)
    values (${userId}, ${key}, '', ${`${userId} ${key}`}, 'done', now(), now() + interval '1 day',
      'req', 200, '{}', convert_to(repeat('x', ${bytes}::int), 'UTF8'))`.execute(database.query)

const addBody = (userId: string, id: string, { bytes, day = 0 }: { bytes: number; day?: number }) =>
  sql`
    insert into request_body (id, started_at, user_id, request_body)
    values (${id}, now() - make_interval(days => ${day}), ${userId}, repeat('x', ${bytes}::int))`.execute(
    database.query,
  )

const addPrompt = (userId: string, id: string, characters: number) =>
  sql`
    insert into prompt (id, user_id, title, content)
    values (${id}, ${userId}, 'A', repeat('x', ${characters}::int))`.execute(database.query)

/** The last four of six. */
const latest = (prefix: string) => [2, 3, 4, 5].map((at) => `${prefix}${at}`)

const fullness = async (work: Promise<unknown>) =>
  work.then(
    () => false,
    (thrown: unknown) => {
      if (!isStorageFull(thrown)) throw thrown
      return true
    },
  )

test('finding S22: all that an account has stored is one sum, which deletes give back', async () => {
  const userId = await createCustomer(database)
  await addResponse(userId, 'resp_sum', 1000)
  await addRunning(userId, 'resp_sum_running', 2000)
  await addConversation(userId, 'conv_sum', 3000)
  await addAnswer(userId, 'key', 4000)
  await addBody(userId, 'req_sum', { bytes: 5000 })
  await addPrompt(userId, 'prompt_sum', 6000)
  expect(await sumsOf(userId)).toEqual({
    responses: 1256,
    running: 2256,
    conversations: 3000 + 2 + 3 * 256,
    answers: 4000 + 2 + 256,
    bodies: 5256,
    texts: 6000 + 1 + '{}'.length + 256,
  })
  expect(await recount(userId)).toBe(0)
  await sql`update stored_response set running_until = null, bytes = 1500
    where id = 'resp_sum_running'`.execute(database.query)
  expect(await sumsOf(userId)).toMatchObject({ responses: 1256 + 1756, running: 0 })
  for (const table of ['stored_response', 'conversation', 'idempotency_key', 'request_body'])
    await sql`delete from ${sql.table(table)} where user_id = ${userId}`.execute(database.query)
  await sql`delete from prompt where user_id = ${userId}`.execute(database.query)
  expect(await totalOf(userId)).toBe(0)
  await sql`delete from users where id = ${userId}`.execute(database.query)
  expect(await sumsOf(userId)).toEqual({})
})

test('finding S22: the oldest responses and conversations make room, of that account alone', async () => {
  const [userId, other] = [await createCustomer(database), await createCustomer(database)]
  await addResponse(other, 'resp_other_old', 100 * megabyte)
  await addResponse(userId, 'resp_old', 100 * megabyte)
  await addConversation(userId, 'conv_old', 100 * megabyte)
  await addResponse(userId, 'resp_new', 50 * megabyte)
  const { rows } = await sql<{ id: string }>`
    select id from stored_response where user_id = any(${[userId, other]})
    union all select id from conversation where user_id = ${userId} order by 1`.execute(
    database.query,
  )
  expect(rows.map(({ id }) => id)).toEqual(['conv_old', 'resp_new', 'resp_old', 'resp_other_old'])
  await addResponse(userId, 'resp_newer', 10 * megabyte)
  const kept = async () => {
    const { rows: now } = await sql<{ id: string }>`
      select id from stored_response where user_id = ${userId}
      union all select id from conversation where user_id = ${userId} order by 1`.execute(
      database.query,
    )
    return now.map(({ id }) => id)
  }
  expect(await kept()).toEqual(['conv_old', 'resp_new', 'resp_newer'])
  await addConversation(userId, 'conv_new', 200 * megabyte)
  expect(await kept()).toEqual(['conv_new', 'resp_newer'])
  expect(await totalOf(userId)).toBeLessThanOrEqual(256 * megabyte)
})

test('finding S22: concurrent writers together exceed the bound by at most one entry', async () => {
  const userId = await createCustomer(database)
  await Promise.all(
    Array.from({ length: 30 }, (_, at) =>
      at % 3 === 0
        ? addConversation(userId, `conv_race_${at}`, 20 * megabyte)
        : addResponse(userId, `resp_race_${at}`, 20 * megabyte),
    ),
  )
  const total = await totalOf(userId)
  expect(total).toBeLessThanOrEqual(256 * megabyte)
  expect(total).toBeGreaterThan(200 * megabyte)
  expect(await recount(userId)).toBe(0)
})

test('finding S22: background responses and texts have a quarter each and make no room', async () => {
  const userId = await createCustomer(database)
  await addResponse(userId, 'resp_done', 150 * megabyte)
  await addRunning(userId, 'resp_run_1', 60 * megabyte)
  expect(await fullness(addRunning(userId, 'resp_run_2', 5 * megabyte))).toBeTrue()
  // Its end is not rejected: what has ended makes room.
  await sql`update stored_response set running_until = null, ended_at = now(), bytes = ${68 * megabyte}
    where id = 'resp_run_1'`.execute(database.query)
  expect(await sumsOf(userId)).toMatchObject({ running: 0, texts: 0 })
  const many = Array.from({ length: 11 }, (_, at) =>
    addPrompt(userId, `prompt_${at}`, 6 * megabyte),
  )
  const refused = await Promise.all(many.map(fullness))
  expect(refused.filter(Boolean)).toHaveLength(1)
  expect(await totalOf(userId)).toBeLessThanOrEqual(256 * megabyte)
  expect(await recount(userId)).toBe(0)
})

test('finding S22: the latest answers for repeats, and logged bodies, are kept', async () => {
  const userId = await createCustomer(database)
  for (let at = 0; at < 6; at++) await addAnswer(userId, `key_${at}`, 7 * megabyte)
  for (let at = 0; at < 6; at++)
    await addBody(userId, `req_late_${at}`, { bytes: 7 * megabyte, day: 6 - at })
  const { answers, bodies } = await sumsOf(userId)
  expect(answers).toBeLessThanOrEqual(32 * megabyte)
  expect(bodies).toBeLessThanOrEqual(32 * megabyte)
  const { rows } = await sql<{ id: string }>`
    select key as id from idempotency_key where user_id = ${userId}
    union all select id from request_body where user_id = ${userId} order by 1`.execute(
    database.query,
  )
  expect(rows.map(({ id }) => id)).toEqual([...latest('key_'), ...latest('req_late_')])
  expect(await recount(userId)).toBe(0)
})

test('finding S22: the operator sets the bound', async () => {
  const userId = await createCustomer(database)
  const set = (settings: object) =>
    sql`update config set settings = ${JSON.stringify(settings)}::jsonb`.execute(database.query)
  await set({ storedMegabytes: 128 })
  try {
    for (let at = 0; at < 4; at++) await addResponse(userId, `resp_small_${at}`, 40 * megabyte)
    expect(await totalOf(userId)).toBeLessThanOrEqual(128 * megabyte)
  } finally {
    await set({})
  }
})

test('finding S22: sums that are wrong are counted again', async () => {
  const userId = await createCustomer(database)
  await addResponse(userId, 'resp_wrong', 1000)
  await addBody(userId, 'req_wrong', { bytes: 500 })
  await sql`update account_storage set responses = 5, bodies = 0, texts = 7
    where user_id = ${userId}`.execute(database.query)
  expect(await recount(userId)).toBe(1251 + 756 + 7)
  expect(await sumsOf(userId)).toMatchObject({ responses: 1256, bodies: 756, texts: 0 })
})
