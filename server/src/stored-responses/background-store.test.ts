import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { BackgroundStore } from './background-store'
import type { Database } from '../platform/db/database'
import { openTestDatabase } from '../../testing/db/database'
import { createCustomer } from '../../testing/ledger/customer'

const stack = new AsyncDisposableStack()
let database: Database
let store: BackgroundStore

beforeAll(async () => {
  database = await openTestDatabase(stack)
  store = new BackgroundStore(database.query)
})
afterAll(() => stack.disposeAsync())

const queued = (id: string) => ({ id, status: 'queued', background: true, output: [] })
let created = 0

async function begun(userId: string, storesEvents = false) {
  const id = `resp_${(created += 1)}`
  const input = [{ role: 'user', content: 'Hello.' }]
  const stored = { id, userId, previousId: null, input, response: queued(id) }
  await store.begin(stored, storesEvents)
  return { id, userId }
}

const frame = (number: number) => `event: a\ndata: {"sequence_number":${number}}\n\n`

/** Its node says nothing more: the lease is over. */
const lose = (id: string) =>
  sql`update stored_response set running_until = now() - interval '1 second' where id = ${id}`.execute(
    database.query,
  )

test('it ends once: by the node that makes it, by its cancellation, or as lost', async () => {
  const userId = await createCustomer(database)
  const [one, two, three] = [await begun(userId), await begun(userId), await begun(userId)]
  const completed = { status: 'completed', background: true }
  expect(await store.end(one, completed)).toBeTrue()
  expect((await store.cancel(one))?.response).toEqual(completed)
  expect((await store.cancel(two))?.response['status']).toBe('cancelled')
  expect(await store.end(two, completed)).toBeFalse()
  expect(await store.update(two, completed)).toBeFalse()
  await lose(three.id)
  expect((await store.find(three))?.response).toMatchObject({
    status: 'failed',
    error: { code: 'server_error' },
  })
  expect(await store.end(three, completed)).toBeFalse()
  expect(await store.renew([one, two, three])).toEqual(new Set())
  for (const owned of [one, two, three]) {
    expect((await store.find(owned))?.isRunning).toBeFalse()
  }
})

test('running responses of dead nodes have failed, even if no client requests them', async () => {
  const userId = await createCustomer(database)
  const [expired, alive] = [await begun(userId, true), await begun(userId)]
  await store.addEvents(expired, frame(0) + frame(1), 1)
  await lose(expired.id)
  expect(await store.renew([alive])).toEqual(new Set([alive.id]))
  await store.sweep()
  const { rows } = await sql<{ id: string; response: string; running: boolean }>`
    select id, response, running_until is not null as running
    from stored_response where user_id = ${userId} order by id`.execute(database.query)
  const statuses = rows.map(({ id, response, running }) => [
    id,
    JSON.parse(response).status,
    running,
  ])
  expect(statuses).toEqual([
    [expired.id, 'failed', false],
    [alive.id, 'queued', true],
  ])
  const { frames } = (await store.eventsAfter(expired, 1)) ?? { frames: [] }
  expect(frames).toHaveLength(1)
  expect(frames[0]).toStartWith(
    'event: response.failed\ndata: {"type":"response.failed","sequence_number":2,',
  )
})

test('an account has at most a hundred at once, for any number of concurrent starts', async () => {
  const userId = await createCustomer(database)
  await sql`
    insert into stored_response
      (id, user_id, input, response, bytes, running_until, is_background)
    select 'resp_many_' || n, ${userId}, '[]', '{}', 4, now() + interval '20 seconds', true
    from generate_series(1, 98) as n`.execute(database.query)
  const beginning = await Promise.allSettled(Array.from({ length: 6 }, () => begun(userId)))
  const refused = beginning.flatMap((one) => (one.status === 'rejected' ? [one.reason] : []))
  expect(refused).toHaveLength(4)
  for (const error of refused) {
    expect(error).toMatchObject({ code: 'rate_limit_exceeded', details: { limit: 100 } })
  }
  await lose('resp_many_1')
  await begun(userId)
  expect(await begun(await createCustomer(database))).toBeDefined()
})

test('they belong to one account alone', async () => {
  const [owner, other] = [await createCustomer(database), await createCustomer(database)]
  const mine = await begun(owner, true)
  const stolen = { id: mine.id, userId: other }
  await store.addEvents(mine, frame(0), 0)
  await store.addEvents(stolen, frame(1), 1)
  expect(await store.find(stolen)).toBeUndefined()
  expect(await store.cancel(stolen)).toBeUndefined()
  expect(await store.eventsAfter(stolen, -1)).toBeUndefined()
  expect(await store.end(stolen, {})).toBeFalse()
  expect(await store.update(stolen, {})).toBeFalse()
  expect(await store.renew([stolen])).toEqual(new Set())
  await store.discard(stolen)
  expect(await store.find(mine)).toMatchObject({ isRunning: true, response: queued(mine.id) })
  expect(await store.eventsAfter(mine, -1)).toEqual({ frames: [frame(0)], isRunning: true })
})

test('events count in the account’s storage, for an hour after the end', async () => {
  const userId = await createCustomer(database)
  const owned = await begun(userId, true)
  await store.addEvents(owned, frame(0), 0)
  await store.addEvents(owned, frame(0), 0)
  await store.end(owned, { status: 'completed' })
  const bytesOf = async () => {
    const { rows } = await sql<{ event_bytes: number }>`
      select event_bytes from stored_response where id = ${owned.id}`.execute(database.query)
    return rows[0]?.event_bytes
  }
  await store.sweep()
  expect(await bytesOf()).toBe(frame(0).length)
  await sql`
    update stored_response set ended_at = now() - interval '61 minutes'
    where id = ${owned.id}`.execute(database.query)
  await store.sweep()
  expect(await bytesOf()).toBe(0)
  expect(await store.eventsAfter(owned, -1)).toEqual({ frames: [], isRunning: false })
  expect((await store.find(owned))?.storesEvents).toBeFalse()
})

test('unstarted responses leave no rows, and running ones evict nothing older', async () => {
  const userId = await createCustomer(database)
  const owned = await begun(userId)
  await store.discard(owned)
  expect(await store.find(owned)).toBeUndefined()
  const running = await begun(userId)
  await sql`
    insert into stored_response (id, user_id, input, response, bytes)
    values ('resp_huge', ${userId}, '[]', '{}', 200000000)`.execute(database.query)
  await sql`
    update stored_response set bytes = 60000000, created_at = now() - interval '1 hour'
    where id = ${running.id}`.execute(database.query)
  await sql`
    insert into stored_response (id, user_id, input, response, bytes)
    values ('resp_latest', ${userId}, '[]', '{}', 60000000)`.execute(database.query)
  expect((await store.find(running))?.isRunning).toBeTrue()
  const { rows } = await sql<{ id: string }>`
    select id from stored_response where user_id = ${userId} order by id`.execute(database.query)
  expect(rows.map(({ id }) => id)).toEqual([running.id, 'resp_latest'].toSorted())
})

test('finding S22: its input has 8 MB at most, before it begins', async () => {
  const userId = await createCustomer(database)
  const input = [{ role: 'user', content: 'x'.repeat(9 * 1024 * 1024) }]
  const stored = { id: 'resp_wide', userId, previousId: null, input, response: queued('resp_wide') }
  await expect(store.begin(stored, false)).rejects.toMatchObject({
    status: 400,
    param: 'input',
    details: { issue: 'body_too_large' },
  })
  expect(await store.find({ id: 'resp_wide', userId })).toBeUndefined()
})

test('finding S22: inputs and events of running responses have a quarter of the account’s storage', async () => {
  const userId = await createCustomer(database)
  await sql`
    insert into stored_response (id, user_id, input, response, bytes, running_until, keeps_events)
    values ('resp_filling', ${userId}, '[]', '{}', ${64 * 1024 * 1024 - 1000},
      now() + interval '1 minute', true)`.execute(database.query)
  await expect(begun(userId)).resolves.toBeDefined()
  await expect(Promise.all([begun(userId), begun(userId), begun(userId)])).rejects.toMatchObject({
    status: 400,
    param: 'background',
    details: { issue: 'limit_reached' },
  })
  const filling = { id: 'resp_filling', userId }
  expect(await store.addEvents(filling, frame(0).padEnd(2000, '\n'), 0)).toBeFalse()
  // What has ended makes room, and has as much as anything else that is stored.
  expect(await store.end(filling, { status: 'completed' })).toBeTrue()
  expect(await store.addEvents(filling, frame(0), 0)).toBeTrue()
  await begun(userId)
})
