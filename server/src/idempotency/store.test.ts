import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { createClaimStore, endChannel, nameOf, type ClaimStore, type Named } from './store'
import type { Database } from '../platform/db/database'
import { openTestDatabase } from '../../testing/db/database'
import { newId } from '../platform/db/id'

const stack = new AsyncDisposableStack()
let database: Database
let store: ClaimStore
let one: Named

beforeAll(async () => {
  database = await openTestDatabase(stack)
  store = createClaimStore(database.query, (nearMs) => nearMs)
})
afterAll(() => stack.disposeAsync())

beforeEach(async () => {
  await sql`delete from idempotency_key`.execute(database.query)
  const userId = newId('user')
  const email = `${userId}@example.com`
  await sql`insert into users (id, email, display_name) values (${userId}, ${email}, 'Test')`.execute(
    database.query,
  )
  one = { userId, key: 'a key', hash: Buffer.alloc(32, 1) }
})

const body = new Uint8Array([0, 1, 127, 128, 255, 0x5c, 0x27])
const answer = { requestId: 'req_1', status: 502, headers: { 'content-type': 'a/b' }, body }

const endLease = () =>
  sql`update idempotency_key set leased_until = now() - interval '1 ms'`.execute(database.query)
const expire = () =>
  sql`update idempotency_key set expires_at = now() - interval '1 ms'`.execute(database.query)

test('gives a key to one of fifty concurrent claims', async () => {
  const all = Array.from({ length: 50 }, () => store.claim(one, newId('claim')))
  expect((await Promise.all(all)).filter(Boolean)).toHaveLength(1)
  expect(await store.find(one)).toEqual({ hash: one.hash, answer: undefined })
})

test('returns a stored answer byte for byte', async () => {
  await store.claim(one, 'claim_1')
  await store.keep('claim_1', answer)
  const found = await store.find(one)
  expect(found).toEqual({ hash: one.hash, answer: { ...answer, body: Buffer.from(body) } })
  expect(await store.claim(one, 'claim_2')).toBe(false)
  await store.keep('claim_1', { ...answer, status: 200 })
  await store.giveUp('claim_1')
  expect((await store.find(one))?.answer?.status).toBe(502)
})

test('a key given up is free', async () => {
  await store.claim(one, 'claim_1')
  await store.giveUp('claim_1')
  expect(await store.find(one)).toBeUndefined()
  expect(await store.claim({ ...one, hash: Buffer.alloc(32, 2) }, 'claim_2')).toBe(true)
})

test('a lease that ended is taken over, and its holder can do nothing more', async () => {
  await store.claim(one, 'claim_1')
  await endLease()
  expect(await store.claim(one, 'claim_2')).toBe(true)
  await store.keep('claim_1', answer)
  await store.giveUp('claim_1')
  expect(await store.find(one)).toEqual({ hash: one.hash, answer: undefined })
  await store.keep('claim_2', { ...answer, requestId: 'req_2' })
  expect((await store.find(one))?.answer?.requestId).toBe('req_2')
})

test('a renewed lease is not; among the leases of a node', async () => {
  const other = { ...one, key: 'another' }
  await store.claim(one, 'claim_1')
  await store.claim(other, 'claim_2')
  await endLease()
  await store.renew(['claim_1', 'claim_unknown'])
  expect(await store.claim(one, 'claim_3')).toBe(false)
  expect(await store.claim(other, 'claim_4')).toBe(true)
})

test('expired answers are free, then deleted; others stay', async () => {
  await store.claim(one, 'claim_1')
  await store.keep('claim_1', answer)
  expect(await store.deleteExpired()).toBe(0)
  await expire()
  expect(await store.claim(one, 'claim_2')).toBe(true)
  expect(await store.find(one)).toEqual({ hash: one.hash, answer: undefined })
  await expire()
  expect(await store.deleteExpired()).toBe(1)
  expect(await store.find(one)).toBeUndefined()
})

test('many that have expired are deleted in pieces, all of them', async () => {
  await sql`
    insert into idempotency_key (user_id, key, request_hash, claim_id, leased_until, expires_at)
    select ${one.userId}, 'k' || n, '', 'claim_' || n, now(), now()
    from generate_series(1, 1201) as n`.execute(database.query)
  expect(await store.deleteExpired()).toBe(1201)
})

test('an answer is kept for 24 hours from when it was given', async () => {
  await store.claim(one, 'claim_1')
  await expire()
  await store.keep('claim_1', answer)
  const { rows } = await sql<{ hours: number }>`
    select round(extract(epoch from expires_at - now()) / 3600)::integer as hours
    from idempotency_key`.execute(database.query)
  expect(rows).toEqual([{ hours: 24 }])
})

test('notifies other nodes of both kinds of end', async () => {
  const client = database.client()
  await client.connect()
  const notified: (string | undefined)[] = []
  client.on('notification', ({ payload }) => notified.push(payload))
  await client.query(`listen ${endChannel}`)
  for (const end of ['keep', 'giveUp'] as const) {
    const named = { ...one, key: end }
    await store.claim(named, end)
    await (end === 'keep' ? store.keep(end, answer) : store.giveUp(end))
    await client.query('select 1')
    expect(notified.at(-1)).toBe(nameOf(named))
  }
  expect(notified).toHaveLength(2)
  await client.end()
})

test("an account's answers go with it", async () => {
  await store.claim(one, 'claim_1')
  await sql`delete from credit_account where id = ${one.userId}`.execute(database.query)
  await sql`delete from users where id = ${one.userId}`.execute(database.query)
  expect(await store.find(one)).toBeUndefined()
})
