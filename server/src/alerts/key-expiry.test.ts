import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { randomBytes } from 'node:crypto'
import { pino } from 'pino'
import { notifyExpiringKeys } from './key-expiry'
import { TestClock } from '../../testing/clock'
import { openTestDatabase } from '../../testing/db/database'
import { eventually } from '../../testing/eventually'
import { createCustomer } from '../../testing/ledger/customer'
import { createKeyExpiryNotices } from '../jobs/notify-expiring-keys'
import type { Database } from '../platform/db/database'
import { newId } from '../platform/db/id'

const stack = new AsyncDisposableStack()
let database: Database
const clock = new TestClock()
const dayMs = 86_400_000
const startMs = clock.wallMs()

beforeAll(async () => {
  database = await openTestDatabase(stack)
})
afterAll(() => stack.disposeAsync())

let userId: string
beforeEach(async () => {
  // What other tests left is not due.
  await database.query.deleteFrom('api_key').execute()
  userId = await createCustomer(database)
  await database.query
    .updateTable('users')
    .set({ email_verified: true })
    .where('id', '=', userId)
    .execute()
})

const at = (days: number) => new Date(startMs + days * dayMs)
/** Looks for expiring keys some days after the start. */
const look = (days: number) => notifyExpiringKeys(database.query, at(days).getTime())

interface Made {
  expires: Date | null
  created?: Date
  disabled?: { at: Date; until: Date | null }
}

const rowOf = ({ expires, created = at(-30), disabled }: Made) => ({
  id: newId('key'),
  user_id: userId,
  name: 'Search',
  key_prefix: 'sk-tg-6rHINF',
  hash: randomBytes(32),
  permissions: ['read'],
  expires_at: expires,
  created_at: created,
  disabled_at: disabled?.at ?? null,
  disabled_until: disabled?.until ?? null,
})

async function createKey(made: Made): Promise<string> {
  const row = rowOf(made)
  await database.query.insertInto('api_key').values(row).execute()
  return row.id
}

const notices = () =>
  database.query
    .selectFrom('notification')
    .select(['kind', 'title', 'body', 'link'])
    .where('user_id', '=', userId)
    .orderBy('id')
    .execute()

const mails = () =>
  database.query
    .selectFrom('mail')
    .select('subject')
    .where('recipient', '=', `${userId}@example.com`)
    .execute()

test('a key is notified of 7 days and 1 day before it expires, once each by any one process', async () => {
  await createKey({ expires: at(10) })
  expect(await look(2.9)).toBe(0)
  const counts = await Promise.all(Array.from({ length: 4 }, () => look(3)))
  expect(counts.toSorted((one, other) => one - other)).toEqual([0, 0, 0, 1])
  expect(await look(8.9)).toBe(0)
  expect([await look(9), await look(9.5), await look(10)]).toEqual([1, 0, 0])
  const notice = {
    kind: 'key_expiring' as const,
    title: 'API key expires soon: Search',
    body: 'Your API key "Search" (sk-tg-6rHINF…) expires at 2030-01-11 00:00 UTC. Requests with it are rejected from then on. Extend it, or replace it before.',
    link: '/keys',
  }
  expect(await notices()).toEqual([notice, notice])
  expect(await mails()).toEqual([{ subject: notice.title }, { subject: notice.title }])
})

test('a key that was not looked at for days is notified of once, for the last day', async () => {
  await createKey({ expires: at(10) })
  expect([await look(9.5), await look(9.6)]).toEqual([1, 0])
})

test('a key whose expiry changes is notified of again', async () => {
  const id = await createKey({ expires: at(5) })
  expect(await look(0)).toBe(1)
  const change = (expires: Date | null) =>
    database.query
      .updateTable('api_key')
      .set({ expires_at: expires })
      .where('id', '=', id)
      .execute()
  await change(at(6))
  expect([await look(0), await look(0)]).toEqual([1, 0])
  await change(null)
  expect(await look(0)).toBe(0)
  await change(at(60))
  expect([await look(0), await look(53)]).toEqual([0, 1])
})

test('a key that was made for a week, or for a day, causes no notification at its creation', async () => {
  await createKey({ created: at(0), expires: at(7) })
  await createKey({ created: at(0), expires: at(1) })
  expect([await look(0.01), await look(6.5)]).toEqual([0, 1])
})

test('a key that stays disabled until it expires, and one of a suspended account, cause no notification', async () => {
  await createKey({ expires: at(5), disabled: { at: at(0), until: null } })
  await createKey({ expires: at(5), disabled: { at: at(0), until: at(9) } })
  expect(await look(1)).toBe(0)
  await createKey({ expires: at(5), disabled: { at: at(0), until: at(4) } })
  await database.query
    .updateTable('users')
    .set({ status: 'suspended' })
    .where('id', '=', userId)
    .execute()
  expect(await look(1)).toBe(0)
  await database.query
    .updateTable('users')
    .set({ status: 'active' })
    .where('id', '=', userId)
    .execute()
  expect(await look(1)).toBe(1)
})

test('the old secret of a rotation is notified of, unless its key expires first', async () => {
  const [long, short] = [await createKey({ expires: null }), await createKey({ expires: at(1.9) })]
  const secretOf = (keyId: string) => ({
    hash: randomBytes(32),
    key_id: keyId,
    key_prefix: 'sk-tg-OLDONE',
    expires_at: at(2),
    created_at: at(-20),
  })
  await database.query
    .insertInto('previous_secret')
    .values([secretOf(long), secretOf(short)])
    .execute()
  // One for the secret of the key that stays, one for the other key.
  expect([await look(0), await look(0)]).toEqual([2, 0])
  expect((await notices()).map(({ title }) => title).toSorted()).toEqual([
    'API key expires soon: Search',
    'Old secret of an API key expires soon: Search',
  ])
})

test('more keys than one batch takes are all notified of in one run', async () => {
  const rows = Array.from({ length: 230 }, () => rowOf({ expires: at(5) }))
  await database.query.insertInto('api_key').values(rows).execute()
  expect([await look(0), await look(0)]).toEqual([230, 0])
})

test('the job notifies when the time has come', async () => {
  await createKey({ expires: at(8) })
  await using _job = createKeyExpiryNotices({
    db: database.query,
    intervalMs: dayMs,
    log: pino({ level: 'silent' }),
    clock,
  })
  await clock.advance(2 * dayMs)
  await eventually(async () => (await notices()).length === 1)
})
