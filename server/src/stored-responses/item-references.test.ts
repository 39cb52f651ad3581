import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { BackgroundStore } from './background-store'
import { StoredConversations } from './conversations'
import { StoredTurn } from './response-turn'
import { ResponseStore } from './store'
import type { Database } from '../platform/db/database'
import { newId } from '../platform/db/id'
import { openTestDatabase } from '../../testing/db/database'
import { recordTimeFigure } from '../../testing/figures'
import { createCustomer } from '../../testing/ledger/customer'
import type { JsonObject } from '../wire/json-body'

const stack = new AsyncDisposableStack()
let database: Database

beforeAll(async () => {
  database = await openTestDatabase(stack)
})
afterAll(() => stack.disposeAsync())

const newStore = () =>
  new ResponseStore(database.query, (error) => {
    throw error
  })

const newResponseId = () => newId('req').replace('req', 'resp')
const message = (id: string, text = 'Hello.') => ({ id, type: 'message', role: 'assistant', text })

const save = (store: ResponseStore, userId: string, output: readonly JsonObject[]) => {
  const id = newResponseId()
  const response = { id, status: 'completed', output }
  expect(store.save({ id, userId, previousId: null, input: [], response })).toBeTrue()
  return id
}

const expand = async (store: ResponseStore, userId: string, input: readonly JsonObject[]) => {
  const conversations = new StoredConversations(database.query, () => undefined)
  const background = new BackgroundStore(database.query)
  const turn = new StoredTurn({ store, conversations, background, mode: 'always' }, 'req_1')
  const body = { model: 'sandbox/echo', input }
  const unread = await turn.unreadBytes(userId, body)
  const read = await turn.expand(userId, { body, bytes: 100 })
  return { unread, ...read }
}

const reference = (id: string) => ({ type: 'item_reference', id })

test('finding D1: items whose ids a provider made are found here at once, and on another node once written', async () => {
  const [owner, other] = [await createCustomer(database), await createCustomer(database)]
  const [here, there] = [newStore(), newStore()]
  const item = message('msg_68af1c')
  const id = save(here, owner, [message('rs_1'), item])
  const asked = [reference('msg_68af1c')]
  expect((await expand(here, owner, asked)).body['input']).toEqual([item])
  await here.writeOf(id)
  for (const store of [here, there]) {
    const { unread, bytes, body } = await expand(store, owner, asked)
    expect(body['input']).toEqual([item])
    expect(unread).toBeGreaterThan(0)
    expect(bytes).toBeGreaterThan(100)
    expect((await expand(store, other, asked)).body['input']).toEqual(asked)
  }
})

test('finding D1: an id of Tollgate’s own needs no entry in the index, and no wait for the write', async () => {
  const userId = await createCustomer(database)
  const store = newStore()
  const id = newResponseId()
  const item = message(`msg_${id.slice('resp_'.length)}000`)
  const response = { id, status: 'completed', output: [item] }
  store.save({ id, userId, previousId: null, input: [], response })
  expect(store.writeOf(id)).toBeUndefined()
  // Written while another node looks for it.
  const { body } = await expand(newStore(), userId, [reference(item.id)])
  expect(body['input']).toEqual([item])
  await store[Symbol.asyncDispose]()
  const { rows } = await sql`select item_ids from stored_response where id = ${id}`.execute(
    database.query,
  )
  expect(rows).toEqual([{ item_ids: null }])
})

test('finding D1: an answer does not wait for a database that does not write', async () => {
  const userId = await createCustomer(database)
  const store = new ResponseStore(database.query, () => undefined)
  const conversations = new StoredConversations(database.query, () => undefined)
  const background = new BackgroundStore(database.query)
  const turn = new StoredTurn({ store, conversations, background, mode: 'always' }, newId('req'))
  await turn.expand(userId, { body: { model: 'sandbox/echo', input: 'Hi.' }, bytes: 100 })
  await database.query.transaction().execute(async (trx) => {
    await sql`lock table stored_response in exclusive mode`.execute(trx)
    turn.storeIfRequested({ id: turn.id, status: 'completed', output: [message('msg_held')] })
    const bound = { atMost: 1000 }
    await recordTimeFigure(
      'an answer waits for items that are not written',
      bound,
      async () => turn.pendingWrite,
    )
    expect(store.writeOf(turn.id)).toBeDefined()
    // This node has it already.
    expect(await store.find(userId, turn.id)).toMatchObject({ id: turn.id })
  })
  await store[Symbol.asyncDispose]()
  expect(await newStore().find(userId, turn.id)).toMatchObject({ id: turn.id })
})

test('finding D1: reads for references are bounded, in number, bytes and structure', async () => {
  const userId = await createCustomer(database)
  const store = newStore()
  const issueOf = async (input: readonly JsonObject[]) =>
    expand(store, userId, input).then(
      () => undefined,
      (thrown: unknown) => [
        Reflect.get(Object(thrown), 'param'),
        Reflect.get(Object(thrown), 'details'),
      ],
    )
  const full = ['input', { issue: 'limit_reached' }]
  expect(await issueOf(Array.from({ length: 10_001 }, (_, at) => reference(`a${at}`)))).toEqual(
    full,
  )
  const large = [1, 2, 3, 4].map((at) => {
    const id = `msg_large_${at}`
    save(store, userId, [message(id, 'x'.repeat(7_000_000))])
    return reference(id)
  })
  await store[Symbol.asyncDispose]()
  expect(await issueOf(large.slice(0, 3))).toBeUndefined()
  expect(await issueOf(large)).toEqual(full)
  const heavy = [1, 2, 3].map((at) => {
    const id = `msg_heavy_${at}`
    save(store, userId, [{ ...message(id), parts: Array.from({ length: 90_000 }, () => []) }])
    return reference(id)
  })
  await store[Symbol.asyncDispose]()
  expect(await issueOf(heavy.slice(0, 2))).toBeUndefined()
  expect(await issueOf(heavy)).toEqual(full)
})
