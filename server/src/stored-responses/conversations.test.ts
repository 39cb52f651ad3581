import { afterAll, beforeAll, describe, expect, spyOn, test } from 'bun:test'
import { sql } from 'kysely'
import { BackgroundStore } from './background-store'
import { StoredConversations } from './conversations'
import { ResponseStore } from './store'
import { StoredTurn } from './response-turn'
import type { Database } from '../platform/db/database'
import { openTestDatabase } from '../../testing/db/database'
import { purgeEnded } from '../jobs/purge-ended'
import { createCustomer } from '../../testing/ledger/customer'
import { systemClock } from '../platform/clock'

const stack = new AsyncDisposableStack()
let database: Database

beforeAll(async () => {
  database = await openTestDatabase(stack)
})
afterAll(() => stack.disposeAsync())

const failures: unknown[] = []
const newStore = () => new StoredConversations(database.query, (error) => failures.push(error))

const userMessage = (content: string, more: object = {}) => ({ role: 'user', content, ...more })
const page = { limit: 20, order: 'asc', after: undefined } as const

const begun = async (userId: string, ...texts: string[]) =>
  newStore().create(userId, { metadata: {}, items: texts.map((text) => userMessage(text)) })

const turn = (userId: string, conversationId: string, responseId: string) => ({
  userId,
  conversationId,
  responseId,
  items: [userMessage(`Asked for ${responseId}.`), { type: 'message', id: `msg_${responseId}` }],
})

test('turns stand in the order in which they ended, each as a whole', async () => {
  const userId = await createCustomer(database)
  const store = newStore()
  const { id } = await begun(userId, 'Hello.')
  await Promise.all(['a', 'b', 'c'].map((name) => store.store(turn(userId, id, name))))
  const history = (await newStore().history({ userId, id }, 0))?.items
  expect(history).toHaveLength(7)
  for (const at of [1, 3, 5]) {
    const name = String(history?.[at]?.['content']).slice(-2, -1)
    expect(history?.[at + 1]?.['id']).toBe(`msg_${name}`)
  }
  expect(failures).toEqual([])
})

test('reading a conversation waits for its pending writes on this node', async () => {
  const userId = await createCustomer(database)
  const store = newStore()
  const { id } = await begun(userId)
  void store.store(turn(userId, id, 'late'))
  expect((await store.history({ userId, id }, 0))?.items).toHaveLength(2)
})

test('the bytes that a request is going to read are known before, for its account alone', async () => {
  const [userId, other] = [await createCustomer(database), await createCustomer(database)]
  const text = 'x'.repeat(1_000_000)
  const { id } = await begun(userId, text, text)
  const store = newStore()
  const bytes = await store.bytes(userId, id)
  expect(bytes).toBeGreaterThan(2_000_000)
  expect(bytes).toBeLessThan(2_001_000)
  for (const unknown of ['conv_none', 'a\0b', ''])
    expect(await store.bytes(userId, unknown)).toBe(0)
  expect(await store.bytes(other, id)).toBe(0)
  const responses = new ResponseStore(database.query, (error) => failures.push(error))
  const background = new BackgroundStore(database.query)
  const keeping = { store: responses, conversations: store, background, mode: 'asked' } as const
  const request = new StoredTurn(keeping, 'req_1')
  expect(await request.unreadBytes(userId, { conversation: id })).toBe(bytes)
  expect(await request.unreadBytes(userId, { conversation: { id } })).toBe(bytes)
  expect(await request.unreadBytes(userId, {})).toBe(0)
})

test('a turn whose first try was kept without a word is kept once', async () => {
  const userId = await createCustomer(database)
  const { id } = await begun(userId)
  let tries = 0
  const { query } = database
  // The first transaction is committed, but its word is lost.
  const lossy = new Proxy(query, {
    get(target, name) {
      if (name !== 'transaction') return Reflect.get(target, name, target)
      return () => ({
        execute: async (work: Parameters<ReturnType<typeof query.transaction>['execute']>[0]) => {
          const committed = await query.transaction().execute(work)
          if (tries++ === 0) throw new Error('the connection broke')
          return committed
        },
      })
    },
  })
  const errors: unknown[] = []
  await new StoredConversations(lossy, (error) => errors.push(error)).store(
    turn(userId, id, 'once'),
  )
  expect([tries, errors]).toEqual([2, [new Error('the connection broke')]])
  expect((await newStore().history({ userId, id }, 0))?.items).toHaveLength(2)
})

test('nothing of a conversation is another account’s', async () => {
  const [owner, other] = [await createCustomer(database), await createCustomer(database)]
  const store = newStore()
  const { id } = await begun(owner, 'A secret.')
  const [item] = (await store.list({ userId: owner, id }, page))?.items ?? []
  if (!item) throw new Error('nothing was kept')
  expect(await store.find(other, id)).toBeUndefined()
  expect(await store.update(other, id, { stolen: 'yes' })).toBeUndefined()
  expect(await store.add(other, id, [userMessage('Me too.')])).toBeUndefined()
  expect(await store.list({ userId: other, id }, page)).toBeUndefined()
  expect(await store.item({ userId: other, id }, item.id)).toBeUndefined()
  expect(await store.deleteItem(other, id, item.id)).toBeUndefined()
  expect(await store.history({ userId: other, id }, 0)).toBeUndefined()
  expect(await store.delete(other, id)).toBeFalse()
  await store.store(turn(other, id, 'stolen'))
  expect((await store.list({ userId: owner, id }, page))?.items).toEqual([item])
  expect(await store.find(owner, id)).toMatchObject({ id, metadata: {} })
  expect(failures).toEqual([])
})

test('an id that another item of the conversation has is replaced', async () => {
  const userId = await createCustomer(database)
  const store = newStore()
  const { id } = await begun(userId)
  const twice = [
    userMessage('a', { id: 'msg_same' }),
    userMessage('b', { id: 'msg_same' }),
    userMessage('c', { id: 'a\0b' }),
  ]
  await store.add(userId, id, twice)
  await store.add(userId, id, twice)
  const ids = (await store.list({ userId, id }, page))?.items.map((item) => item.id) ?? []
  expect(ids).toHaveLength(6)
  expect(new Set(ids).size).toBe(6)
  expect(ids[0]).toBe('msg_same')
})

describe('a conversation', () => {
  test('holds 10,000 items and 24 MB, plus one answer', async () => {
    const userId = await createCustomer(database)
    const store = newStore()
    const { id } = await begun(userId)
    const large = userMessage('x'.repeat(7 * 1024 * 1024))
    for (let added = 0; added < 3; added++) await store.add(userId, id, [large])
    await expect(store.add(userId, id, [large])).rejects.toMatchObject({
      param: 'items',
      details: { issue: 'limit_reached' },
    })
    await expect(store.history({ userId, id }, 4 * 1024 * 1024)).rejects.toMatchObject({
      param: 'conversation',
      details: { issue: 'limit_reached' },
    })
    expect((await store.history({ userId, id }, 1000))?.items).toHaveLength(3)
    await store.store({ ...turn(userId, id, 'more'), items: [large] })
    await expect(store.history({ userId, id }, 1000)).rejects.toMatchObject({
      param: 'conversation',
    })
    expect((await store.list({ userId, id }, page))?.items).toHaveLength(4)
  })

  test('finding S21: holds 200,000 objects, lists and names, plus one answer', async () => {
    const userId = await createCustomer(database)
    const store = newStore()
    const { id } = await begun(userId)
    const heavy = userMessage('', { x: Array.from({ length: 90_000 }, () => []) })
    await store.add(userId, id, [heavy])
    await store.add(userId, id, [heavy])
    const refused = { param: 'items', details: { issue: 'limit_reached' } }
    await expect(store.add(userId, id, [heavy])).rejects.toMatchObject(refused)
    const numbers = userMessage('', { x: Array.from({ length: 90_000 }, () => 0) })
    await expect(store.add(userId, id, [numbers])).rejects.toMatchObject(refused)
    const history = await store.history({ userId, id }, 0)
    expect(history?.items).toEqual([heavy, heavy])
    expect(history?.bytes).toBe(2 * JSON.stringify(heavy).length)
    // An answer exists already: what comes after it is rejected before it is read.
    await store.store({ ...turn(userId, id, 'heavy'), items: [heavy] })
    const full = { param: 'conversation', details: { issue: 'limit_reached' } }
    await expect(store.history({ userId, id }, 0)).rejects.toMatchObject(full)
    const { items = [] } = (await store.list({ userId, id }, { ...page, limit: 2 })) ?? {}
    await expect(store.list({ userId, id }, page)).rejects.toMatchObject({ param: 'limit' })
    expect(await store.item({ userId, id }, String(items[0]?.id))).toEqual(items[0])
    await store.deleteItem(userId, id, String(items[0]?.id))
    expect((await store.history({ userId, id }, 0))?.items).toHaveLength(2)
    await store.deleteItem(userId, id, String(items[1]?.id))
    expect(await store.add(userId, id, [userMessage('Light.')])).toHaveLength(1)
  })

  test('finding S21: of an earlier version, with uncounted items, is counted when it is read', async () => {
    const userId = await createCustomer(database)
    const store = newStore()
    const { id } = await begun(userId, 'Hello.')
    await sql`
      insert into conversation_item (conversation_id, id, user_id, position, item, bytes)
      select ${id}, 'msg_heavy_' || n, ${userId}, n, ${`{"x":[${'[],'.repeat(79_999)}[]]}`}, 240000
      from generate_series(1, 3) as n`.execute(database.query)
    const full = { param: 'conversation', details: { issue: 'limit_reached' } }
    await expect(store.history({ userId, id }, 0)).rejects.toMatchObject(full)
    await expect(store.list({ userId, id }, page)).rejects.toMatchObject({ param: 'limit' })
    const fewer = await store.list({ userId, id }, { ...page, limit: 2 })
    expect(fewer?.items).toHaveLength(2)
  })

  test('finding S21: is parsed in slices, each of which waits for its turn', async () => {
    const userId = await createCustomer(database)
    const store = newStore()
    const { id } = await begun(userId)
    await store.add(userId, id, [userMessage('', { x: Array.from({ length: 90_000 }, () => []) })])
    const spent: number[] = []
    const pause = async (ms: number) => void spent.push(ms)
    // Each look at the clock is half a millisecond later, whatever the speed of this machine.
    let nowMs = 1000
    using _clock = spyOn(systemClock, 'monotonicMs').mockImplementation(() => (nowMs += 0.5))
    await store.history({ userId, id }, 0, pause)
    const after = spent.length
    expect(after).toBeGreaterThan(0)
    await store.list({ userId, id }, page, pause)
    expect(spent.length).toBeGreaterThan(after)
  })

  test('has room again after deletions', async () => {
    const userId = await createCustomer(database)
    const store = newStore()
    const { id } = await begun(userId, 'a', 'b', 'c')
    const [, second] = (await store.list({ userId, id }, page))?.items ?? []
    expect(await store.deleteItem(userId, id, String(second?.id))).toMatchObject({ id })
    expect(await store.deleteItem(userId, id, String(second?.id))).toBeUndefined()
    const { rows } = await sql`
      select items, bytes::int, (
        select sum(bytes)::int from conversation_item where conversation_id = ${id}
      ) as sum from conversation where id = ${id}`.execute(database.query)
    const bytes = 2 * JSON.stringify(userMessage('a')).length
    expect(rows).toEqual([{ items: 2, bytes, sum: bytes }])
  })
})

test('least recently used ones make room beyond 256 MB of an account', async () => {
  const userId = await createCustomer(database)
  const store = newStore()
  // Rows say how large they are: what counts is the sum.
  await sql`
    insert into conversation (id, user_id, metadata, bytes, used_at)
    select 'conv_old_' || n, ${userId}, '{}', 8000000, now() - n * interval '1 hour'
    from generate_series(1, 40) as n`.execute(database.query)
  for (let created = 0; created < 501; created++)
    await store.create(userId, { metadata: {}, items: [] })
  const { rows } = await sql<{ sum: string }>`
    select sum(bytes) as sum from conversation where user_id = ${userId}`.execute(database.query)
  expect(Number(rows[0]?.sum)).toBeLessThan(256 * 1024 * 1024)
  expect(Number(rows[0]?.sum)).toBeGreaterThan(200 * 1024 * 1024)
  expect(await store.find(userId, 'conv_old_40')).toBeUndefined()
  expect(await store.find(userId, 'conv_old_1')).toBeDefined()
})

test('conversations go so many days after they were last used', async () => {
  const userId = await createCustomer(database)
  await sql`
    insert into conversation (id, user_id, metadata, created_at, used_at)
    select 'conv_day_' || n, ${userId}, '{}', now() - interval '90 days', now() - n * interval '1 day'
    from unnest(array[1, 29, 32]) as n`.execute(database.query)
  const store = newStore()
  await sql`
    insert into conversation_item (conversation_id, id, user_id, position, item, bytes)
    values ('conv_day_32', 'msg_1', ${userId}, 0, '{}', 2)`.execute(database.query)
  await purgeEnded(database.query, 30)
  expect(await store.find(userId, 'conv_day_29')).toBeDefined()
  expect(await store.find(userId, 'conv_day_32')).toBeUndefined()
  expect(await store.item({ userId, id: 'conv_day_32' }, 'msg_1')).toBeUndefined()
})
