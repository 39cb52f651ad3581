import { afterAll, beforeAll, expect, spyOn, test } from 'bun:test'
import { sql } from 'kysely'
import { BackgroundStore } from './background-store'
import { StoredConversations } from './conversations'
import { StoredTurn } from './response-turn'
import { ResponseStore } from './store'
import type { Database } from '../platform/db/database'
import { openTestDatabase } from '../../testing/db/database'
import { newId } from '../platform/db/id'
import { createCustomer } from '../../testing/ledger/customer'
import { recordTimeFigure } from '../../testing/figures'
import { systemClock } from '../platform/clock'

const stack = new AsyncDisposableStack()
let database: Database

beforeAll(async () => {
  database = await openTestDatabase(stack)
})
afterAll(() => stack.disposeAsync())

const megabyte = 1024 * 1024
const newStore = () =>
  new ResponseStore(database.query, (error) => {
    throw error
  })
const stored = (userId: string, id: string, text = '') => ({
  id,
  userId,
  previousId: null,
  input: [{ type: 'message', role: 'user', content: text }],
  response: { id, output: [] },
})

/** Answers of an account, each of which goes on from the one before; the first goes on from none. */
const addChain = (
  userId: string,
  prefix: string,
  { length, text = '' }: { length: number; text?: string },
) =>
  sql`
    insert into stored_response (id, user_id, previous_id, input, response, bytes)
    select ${prefix} || n, ${userId}, case when n > 1 then ${prefix} || (n - 1) end,
      ${JSON.stringify([text])}, '{}', ${text.length + 6}
    from generate_series(1, ${length}::int) as n`.execute(database.query)

test('the room that one account makes takes nothing of another', async () => {
  const [owner, other] = [await createCustomer(database), await createCustomer(database)]
  // Rows say how large they are: what counts is the sum.
  for (const [userId, prefix] of [
    [owner, 'resp_owner_'],
    [other, 'resp_other_'],
  ] as const) {
    await sql`
      insert into stored_response (id, user_id, input, response, bytes, created_at)
      select ${prefix} || n, ${userId}, '[]', '{}', 8000000, now() - n * interval '1 hour'
      from generate_series(1, 30) as n`.execute(database.query)
  }
  const store = newStore()
  for (let saved = 0; saved < 501; saved++) store.save(stored(owner, `resp_small_${saved}`))
  await store[Symbol.asyncDispose]()
  // Each has less than it may have.
  for (const [userId, prefix] of [
    [owner, 'resp_owner_'],
    [other, 'resp_other_'],
  ] as const) {
    expect(await store.find(userId, `${prefix}30`)).toBeDefined()
  }
  await sql`
    insert into stored_response (id, user_id, input, response, bytes, created_at)
    select 'resp_more_' || n, ${owner}, '[]', '{}', 8000000, now() - n * interval '1 minute'
    from generate_series(1, 30) as n`.execute(database.query)
  for (let saved = 0; saved < 501; saved++) store.save(stored(owner, `resp_again_${saved}`))
  await store[Symbol.asyncDispose]()
  expect(await store.find(owner, 'resp_owner_30')).toBeUndefined()
  expect(await store.find(other, 'resp_other_30')).toBeDefined()
})

test('pending writes to the database are bounded, and free their room once written', async () => {
  const userId = await createCustomer(database)
  const store = newStore()
  const text = 'x'.repeat(7 * megabyte)
  const kept = Array.from({ length: 12 }, (_, at) =>
    store.save(stored(userId, `resp_wide_${at}`, text)),
  )
  expect(kept.filter(Boolean)).toHaveLength(9)
  await store[Symbol.asyncDispose]()
  expect(store.save(stored(userId, 'resp_wide_later', text))).toBeTrue()
  await store[Symbol.asyncDispose]()
  expect(await store.find(userId, 'resp_wide_later')).toBeDefined()
})

test('a request continues from at most a thousand answers', async () => {
  const userId = await createCustomer(database)
  await addChain(userId, 'resp_long_', { length: 1001 })
  const store = newStore()
  expect(await store.chain(userId, 'resp_long_1000')).toHaveLength(1000)
  expect(await store.chain(userId, 'resp_long_1001')).toBeUndefined()
})

test('from at most 24 MB and one answer', async () => {
  const userId = await createCustomer(database)
  await addChain(userId, 'resp_large_', { length: 10, text: 'x'.repeat(7 * megabyte) })
  const store = newStore()
  expect(await store.chain(userId, 'resp_large_4')).toHaveLength(4)
  expect(await store.chain(userId, 'resp_large_5')).toBeUndefined()
})

test('from at most the objects of one answer', async () => {
  const userId = await createCustomer(database)
  const nested = `[${'{},'.repeat(299_999)}{}]`
  await sql`
    insert into stored_response (id, user_id, previous_id, input, response, bytes)
    select 'resp_many_' || n, ${userId}, case when n > 1 then 'resp_many_' || (n - 1) end, ${nested}, '{}', 900002
    from generate_series(1, 4) as n`.execute(database.query)
  const store = newStore()
  expect(await store.chain(userId, 'resp_many_3')).toHaveLength(3)
  expect(await store.chain(userId, 'resp_many_4')).toBeUndefined()
})

test('finding S21: from at most the structure of a history, which is parsed in slices', async () => {
  const userId = await createCustomer(database)
  const input = JSON.stringify([
    { role: 'user', content: '', x: Array.from({ length: 90_000 }, () => []) },
  ])
  await sql`
    insert into stored_response (id, user_id, previous_id, input, response, bytes)
    select 'resp_heavy_' || n, ${userId}, case when n > 1 then 'resp_heavy_' || (n - 1) end,
      ${input}, '{"status":"completed"}', 270000
    from generate_series(1, 3) as n`.execute(database.query)
  const store = newStore()
  const conversations = new StoredConversations(database.query, () => undefined)
  const background = new BackgroundStore(database.query)
  const keeping = { store, conversations, background, mode: 'asked' } as const
  const spent: number[] = []
  const pause = async (ms: number) => void spent.push(ms)
  const expand = (previous: string) => {
    const body = { model: 'sandbox/echo', input: 'Hello?', previous_response_id: previous }
    return new StoredTurn(keeping, 'req_1').expand(userId, { body, bytes: 100 }, pause)
  }
  // Each look at the clock is half a millisecond later, whatever the speed of this machine.
  let nowMs = 1000
  using _clock = spyOn(systemClock, 'monotonicMs').mockImplementation(() => (nowMs += 0.5))
  const { body } = await expand('resp_heavy_2')
  expect(body['input']).toHaveLength(3)
  expect(spent.length).toBeGreaterThan(0)
  await expect(expand('resp_heavy_3')).rejects.toMatchObject({
    param: 'previous_response_id',
    details: { issue: 'limit_reached' },
  })
})

test('the size of a read is known before it, of the account alone', async () => {
  const [userId, other] = [await createCustomer(database), await createCustomer(database)]
  await addChain(userId, 'resp_sum_', { length: 3, text: 'x'.repeat(megabyte) })
  const store = newStore()
  expect(await store.chainBytes(userId, 'resp_sum_3')).toBe(3 * (megabyte + 6))
  expect(await store.chainBytes(userId, 'resp_sum_1')).toBe(megabyte + 6)
  for (const id of ['resp_none', 'a\0b', '']) expect(await store.chainBytes(userId, id)).toBe(0)
  expect(await store.chainBytes(other, 'resp_sum_3')).toBe(0)
  // What is on its way is in memory.
  store.save(stored(userId, 'resp_sum_new'))
  expect(await store.chainBytes(userId, 'resp_sum_new')).toBe(0)
  store.save({ ...stored(userId, 'resp_sum_4'), previousId: 'resp_sum_3' })
  expect(await store.chainBytes(userId, 'resp_sum_4')).toBe(3 * (megabyte + 6))
  await store[Symbol.asyncDispose]()
})

test('an answer that another node is still writing is waited for', async () => {
  const userId = await createCustomer(database)
  // Young for some seconds more, also where this process stands still.
  const id = `resp_${newId('req', Date.now() + 4000).slice('req_'.length)}`
  {
    // It comes while the first node pauses.
    using pause = spyOn(Bun, 'sleep').mockImplementation(async () => {
      const other = newStore()
      other.save(stored(userId, id))
      await other[Symbol.asyncDispose]()
    })
    expect(await newStore().chain(userId, id)).toMatchObject([{ id, userId }])
    expect(pause).toHaveBeenCalledTimes(1)
  }
  using pause = spyOn(Bun, 'sleep')
  const missing = await recordTimeFigure(
    'a missing answer that no node still writes',
    { atMost: 150 },
    () => newStore().chain(userId, 'resp_of_no_time'),
  )
  expect(missing).toBeUndefined()
  expect(pause).not.toHaveBeenCalled()
})
