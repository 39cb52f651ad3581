import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { createTrail, type OperatorChange } from './operator-trail'
import type { Database } from '../platform/db/database'
import { openTestDatabase } from '../../testing/db/database'
import { newId } from '../platform/db/id'
import { noteCreated } from '../platform/db/background-work'

const stack = new AsyncDisposableStack()
let database: Database
let requestId: string

beforeAll(async () => {
  database = await openTestDatabase(stack)
})
afterAll(() => stack.disposeAsync())
beforeEach(() => {
  requestId = newId('req')
})

const change = (): OperatorChange => ({
  actorId: null,
  method: 'POST',
  route: '/api/admin/plans',
  pathIds: [],
  sent: { name: 'A plan' },
  requestId,
  clientAddress: null,
})

const record = (run: () => Promise<unknown>, isDone = true) =>
  createTrail(database.query).record(change, async () => {
    await run()
    return { isDone }
  })

/** The ids of what is on record of the request of this test. */
async function objects() {
  const { rows } = await sql<{ id: string | null }>`
    select object_id as id from audit_trail where request_id = ${requestId}`.execute(database.query)
  return rows.map(({ id }) => id)
}

const insertPlan = (id = newId('plan')) =>
  database.query.transaction().execute(async (trx) => {
    noteCreated(id)
    await trx.insertInto('plan').values({ id, name: id }).execute()
    return id
  })

test('records the changes of a transaction when it commits, once', async () => {
  let first = ''
  await record(async () => {
    first = await insertPlan()
    expect(await objects()).toEqual([first])
    await insertPlan()
  })
  expect(await objects()).toEqual([first])
})

test('keeps the record of a committed change whose request then fails', async () => {
  let id = ''
  const failing = record(async () => {
    id = await insertPlan()
    throw new Error('The mail could not be sent.')
  })
  await expect(failing).rejects.toThrow('The mail')
  expect(await objects()).toEqual([id])
})

test('records nothing of a transaction that is rolled back', async () => {
  const id = newId('plan')
  await record(async () => {
    await insertPlan(id)
      .then(() => insertPlan(id))
      .catch(() => undefined)
  })
  expect(await objects()).toEqual([id])
  requestId = newId('req')
  await record(() => insertPlan(id).catch(() => undefined), false)
  expect(await objects()).toEqual([])
})

const look = () =>
  database.query.transaction().execute((trx) => trx.selectFrom('plan').selectAll().execute())

test('a read-only change is not recorded; a change without a transaction is recorded after it', async () => {
  await record(look, false)
  expect(await objects()).toEqual([])
  await record(look)
  expect(await objects()).toEqual([null])
})

test('excludes work that a change started without awaiting it', async () => {
  const gate = Promise.withResolvers<unknown>()
  let later: Promise<string> | undefined
  await record(async () => {
    later = gate.promise.then(() => insertPlan())
  }, false)
  gate.resolve(undefined)
  await later
  expect(await objects()).toEqual([])
})
