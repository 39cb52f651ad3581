import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { ResponseStore } from './store'
import type { Database } from '../platform/db/database'
import { openTestDatabase } from '../../testing/db/database'
import { purgeEnded } from '../jobs/purge-ended'
import { createCustomer } from '../../testing/ledger/customer'

const stack = new AsyncDisposableStack()
let database: Database

beforeAll(async () => {
  database = await openTestDatabase(stack)
})
afterAll(() => stack.disposeAsync())

const failures: unknown[] = []
const newStore = () => new ResponseStore(database.query, (error) => failures.push(error))

const item = (content: string) => ({ type: 'message', role: 'user', content })
const stored = (userId: string, id: string, previousId: string | null = null) => ({
  id,
  userId,
  previousId,
  input: [item(`Asked for ${id}.`)],
  response: { id, output: [] },
})

test('a saved response is found at once here, and soon by another node', async () => {
  const userId = await createCustomer(database)
  const [here, there] = [newStore(), newStore()]
  expect(here.save(stored(userId, 'resp_a'))).toBeTrue()
  expect(await here.find(userId, 'resp_a')).toMatchObject({ id: 'resp_a', userId })
  await here[Symbol.asyncDispose]()
  expect(await there.find(userId, 'resp_a')).toEqual(stored(userId, 'resp_a'))
  expect(failures).toEqual([])
})

test('a chain is of one account, in the database and on its way there', async () => {
  const [owner, other] = [await createCustomer(database), await createCustomer(database)]
  const store = newStore()
  store.save(stored(owner, 'resp_1'))
  store.save(stored(owner, 'resp_2', 'resp_1'))
  store.save(stored(other, 'resp_stolen', 'resp_1'))
  for (let round = 0; round < 2; round++) {
    const chain = await store.chain(owner, 'resp_2')
    expect(chain?.map(({ id }) => id)).toEqual(['resp_1', 'resp_2'])
    expect(await store.chain(other, 'resp_2')).toBeUndefined()
    // It names an answer of another account, which it does not get.
    expect(await store.chain(other, 'resp_stolen')).toBeUndefined()
    expect(await store.delete(other, 'resp_1')).toBeFalse()
    await store[Symbol.asyncDispose]()
  }
  expect(await store.delete(owner, 'resp_1')).toBeTrue()
  expect(await store.chain(owner, 'resp_2')).toBeUndefined()
})

test('a chain that is half on its way is whole', async () => {
  const userId = await createCustomer(database)
  const store = newStore()
  store.save(stored(userId, 'resp_old'))
  await store[Symbol.asyncDispose]()
  store.save(stored(userId, 'resp_new', 'resp_old'))
  const chain = await store.chain(userId, 'resp_new')
  expect(chain?.map(({ id }) => id)).toEqual(['resp_old', 'resp_new'])
  await store[Symbol.asyncDispose]()
})

test('an answer beyond 8 MB is not kept', async () => {
  const userId = await createCustomer(database)
  const store = newStore()
  const response = { id: 'resp_large', output: ['x'.repeat(9 * 1024 * 1024)] }
  expect(store.save({ ...stored(userId, 'resp_large'), response })).toBeFalse()
  expect(await store.find(userId, 'resp_large')).toBeUndefined()
})

test('the oldest make room beyond 256 MB of an account', async () => {
  const userId = await createCustomer(database)
  const store = newStore()
  // Rows say how large they are: what counts is the sum.
  await sql`
    insert into stored_response (id, user_id, input, response, bytes, created_at)
    select 'resp_old_' || n, ${userId}, '[]', '{}', 8000000, now() - n * interval '1 hour'
    from generate_series(1, 40) as n`.execute(database.query)
  for (let saved = 0; saved < 501; saved++) store.save(stored(userId, `resp_room_${saved}`))
  await store[Symbol.asyncDispose]()
  const { rows } = await sql<{ sum: string; oldest: number }>`
    select sum(bytes) as sum, count(*) filter (where id = 'resp_old_40')::int as oldest
    from stored_response where user_id = ${userId}`.execute(database.query)
  expect(Number(rows[0]?.sum)).toBeLessThan(256 * 1024 * 1024)
  expect(Number(rows[0]?.sum)).toBeGreaterThan(200 * 1024 * 1024)
  expect(rows[0]?.oldest).toBe(0)
  expect(await store.find(userId, 'resp_room_500')).toBeDefined()
  expect(await store.find(userId, 'resp_old_1')).toBeDefined()
})

test('answers go after so many days', async () => {
  const userId = await createCustomer(database)
  await sql`
    insert into stored_response (id, user_id, input, response, bytes, created_at)
    select 'resp_day_' || n, ${userId}, '[]', '{}', 4, now() - n * interval '1 day'
    from unnest(array[1, 29, 32]) as n`.execute(database.query)
  await purgeEnded(database.query, 30)
  const store = newStore()
  expect(await store.find(userId, 'resp_day_29')).toBeDefined()
  expect(await store.find(userId, 'resp_day_32')).toBeUndefined()
})
