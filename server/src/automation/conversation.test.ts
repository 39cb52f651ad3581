import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { sql } from 'kysely'
import {
  createConversationStore,
  type ConversationStore,
  type NewMessageText,
  type SessionTurn,
} from './conversation'
import { findSession } from './session-rows'
import { systemClock, type Clock } from '../platform/clock'
import type { Database } from '../platform/db/database'
import { openTestDatabase } from '../../testing/db/database'
import { newId } from '../platform/db/id'

const stack = new AsyncDisposableStack()
let database: Database
let store: ConversationStore
let one: SessionTurn

beforeAll(async () => {
  database = await openTestDatabase(stack)
  store = createConversationStore(database.query, 30)
})
afterAll(() => stack.disposeAsync())

beforeEach(async () => {
  const [userId, sessionId] = [newId('user'), newId('sess')]
  await sql`
    insert into users (id, email, display_name) values (${userId}, ${`${userId}@example.com`}, 'Test')
  `.execute(database.query)
  await sql`
    insert into automation_session (id, user_id, session_type, model_id, disabled_tools)
    values (${sessionId}, ${userId}, 'chat', 'fake/one', '[]')`.execute(database.query)
  one = { runId: newId('req'), sessionId, userId }
})

const another = (): SessionTurn => ({ ...one, runId: newId('req') })
const session = () => findSession(database.query, one.userId, one.sessionId)
const outOfTime = () =>
  sql`update automation_session set running_until = now() - interval '1 ms'`.execute(database.query)

const messages: NewMessageText[] = [
  { role: 'user', content: 'Hello?', tokens: 2 },
  { role: 'assistant', content: 'Hello.', tokens: 3 },
]
const outcome = { messages, inputTokens: 5, outputTokens: 3, cost: 7n }
const contents = async () => (await store.history(await session())).map(({ content }) => content)

test('gives the turn to one of fifty concurrent callers', async () => {
  const all = await Promise.allSettled(Array.from({ length: 50 }, () => store.take(another())))
  expect(all.filter(({ status }) => status === 'fulfilled')).toHaveLength(1)
})

test('a turn ends once: its messages are stored once and summed up once', async () => {
  await store.take(one)
  const ends = await Promise.all([store.end(one, outcome), store.end(one, outcome)])
  expect(ends.filter(Boolean)).toHaveLength(1)
  expect(await contents()).toEqual(['Hello?', 'Hello.'])
  expect(await session()).toMatchObject({ message_count: 2, cost: 7n, running_id: null })
})

test('an expired turn goes to the next caller, and the output of the first is discarded', async () => {
  await store.take(one)
  await outOfTime()
  const next = another()
  await store.take(next)
  expect(await store.renew([one, next])).toEqual(new Set([next.runId]))
  expect(await store.end(one, outcome)).toBeUndefined()
  expect(await contents()).toEqual([])
  await store.end(next, outcome)
  expect(await contents()).toHaveLength(2)
})

test('a renewed turn stays valid, even after it expired and while it is free', async () => {
  await store.take(one)
  await outOfTime()
  expect(await store.renew([one])).toEqual(new Set([one.runId]))
  await expect(store.take(another())).rejects.toMatchObject({ details: { issue: 'wrong_state' } })
})

test('rejects taking or ending the turn of another account', async () => {
  const foreign = { ...one, userId: newId('user') }
  await expect(store.take(foreign)).rejects.toMatchObject({ code: 'resource_not_found' })
  await store.take(one)
  expect(await store.end(foreign, outcome)).toBeUndefined()
})

test('a session that has grown beyond any request is rejected before it is read', async () => {
  await sql`
    insert into automation_message (id, session_id, user_id, position, role, content, tokens)
    select 'msg_' || n, ${one.sessionId}, ${one.userId}, n, 'user', 'x', 1
    from generate_series(0, 1999) as n`.execute(database.query)
  const rejection = store.history(await session())
  await expect(rejection).rejects.toMatchObject({
    param: 'messages',
    details: { issue: 'too_many' },
  })
})

test('steps of a turn are kept as they come, in their order, and counted once that is known', async () => {
  await store.take(one)
  const calls = [{ id: 'call_1', function: { name: 'x', arguments: '{}' } }]
  const step: NewMessageText[] = [
    { role: 'user', content: 'Hello?', tokens: 2 },
    { role: 'assistant', content: null, toolCalls: calls, tokens: 3 },
  ]
  await store.add(one, { ...outcome, messages: step })
  const result: NewMessageText = { role: 'tool', content: 'Yes.', toolCallId: 'call_1', tokens: 0 }
  const none = { inputTokens: 0, outputTokens: 0, cost: 0n }
  const added = await store.add(one, { ...none, messages: [result] })
  // What was kept is there, whatever becomes of the rest.
  expect(added?.session).toMatchObject({ message_count: 3, cost: 7n, running_id: one.runId })
  const [stored] = added?.messages ?? []
  const tokenCounts = new Map([[stored?.id ?? '', 9]])
  await store.end(one, { ...outcome, messages: [messages[1] ?? result], tokenCounts })
  const page = { limit: 10, offset: 0, before: undefined, scope: '' }
  const listed = await store.list(one.userId, one.sessionId, page)
  expect(listed.messages).toMatchObject([
    { role: 'user', content: 'Hello?' },
    { role: 'assistant', content: null, tool_calls: calls },
    { role: 'tool', content: 'Yes.', tool_call_id: 'call_1', tokens: 9 },
    { role: 'assistant', content: 'Hello.' },
  ])
  expect(await session()).toMatchObject({ message_count: 4, cost: 14n, running_id: null })
})

test('a step of a lost turn is not stored', async () => {
  await store.take(one)
  await outOfTime()
  await store.take(another())
  expect(await store.add(one, outcome)).toBeUndefined()
  expect(await contents()).toEqual([])
})

/** A store whose first transactions fail: before they are done, or after, when only the answer is lost. */
function failing(when: readonly ('before' | 'after')[]) {
  const remaining = [...when]
  const { query } = database
  const transaction = () => ({
    execute: async (work: Parameters<ReturnType<typeof query.transaction>['execute']>[0]) => {
      const fails = remaining.shift()
      if (fails === 'before') throw new Error('Connection terminated unexpectedly')
      const done = await query.transaction().execute(work)
      if (fails === 'after') throw new Error('Query read timeout')
      return done
    },
  })
  const db = new Proxy(query, {
    get: (target, name) => (name === 'transaction' ? transaction : Reflect.get(target, name)),
  })
  const paused: number[] = []
  const clock: Clock = { ...systemClock, sleep: async (ms) => void paused.push(ms) }
  return { store: createConversationStore(db, 30, clock), paused }
}

test.each([
  ['before anything is done', ['before', 'before'], 2],
  ['after it is done', ['after'], 1],
  ['both', ['before', 'after'], 2],
] as const)('a database that fails %s loses nothing, and nothing is kept twice', async (...row) => {
  const [, when, pauses] = row
  await store.take(one)
  const adding = failing(when)
  const added = await adding.store.add(one, outcome)
  expect(added?.messages.map(({ content }) => content)).toEqual(['Hello?', 'Hello.'])
  expect(added?.session).toMatchObject({ message_count: 2, cost: 7n })
  expect(adding.paused).toHaveLength(pauses)
  const ended = await failing(when).store.end(one, outcome)
  expect(ended?.map(({ content }) => content)).toEqual(['Hello?', 'Hello.'])
  expect(await contents()).toEqual(['Hello?', 'Hello.', 'Hello?', 'Hello.'])
  expect(await session()).toMatchObject({ message_count: 4, cost: 14n, running_id: null })
})

test('reports a database that is down after four attempts', async () => {
  await store.take(one)
  const { store: unavailable, paused } = failing(Array.from({ length: 9 }, () => 'before' as const))
  await expect(unavailable.end(one, outcome)).rejects.toThrow('terminated')
  expect(paused).toEqual([200, 1000, 3000])
  // It is still its turn, until that runs out.
  expect(await session()).toMatchObject({ message_count: 0, running_id: one.runId })
})
