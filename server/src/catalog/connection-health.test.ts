import { afterAll, beforeAll, expect, spyOn, test } from 'bun:test'
import type { Kysely } from 'kysely'
import { ConnectionHealth } from './connection-health'
import { openTestDatabase } from '../../testing/db/database'
import { newId } from '../platform/db/id'
import type { Schema } from '../platform/db/schema'
import { eventually } from '../../testing/eventually'

let stack: AsyncDisposableStack
let db: Kysely<Schema>
beforeAll(async () => {
  stack = new AsyncDisposableStack()
  db = (await openTestDatabase(stack)).query
})
afterAll(() => stack.disposeAsync())

async function createFixture(status: 'active' | 'inactive' | 'error' = 'active') {
  const id = newId('conn')
  const row = { id, scope: 'platform' as const, name: 'one', provider: 'fake', status }
  await db.insertInto('connection').values(row).execute()
  const clock = { ms: 0 }
  const errors: unknown[] = []
  const onError = (error: unknown) => void errors.push(error)
  const health = new ConnectionHealth({ db, onError, now: () => clock.ms })
  const read = () =>
    db
      .selectFrom('connection')
      .select(['status', 'last_error'])
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
  /** As soon as it is so. */
  const becomes = async (wanted: string) => {
    await eventually(async () => (await read()).status === wanted)
    return read()
  }
  return { id, health, clock, read, becomes, errors }
}

test('21.2: a rejected credential is reported, and so is its later acceptance', async () => {
  const { id, health, clock, becomes } = await createFixture()
  health.recordRefusal({ id, isFailing: false }, 'no such key')
  expect(await becomes('error')).toEqual({ status: 'error', last_error: 'no such key' })
  clock.ms += 5000
  health.recordAnswer({ id, isFailing: true })
  expect(await becomes('active')).toEqual({ status: 'active', last_error: null })
})

test('a connection that answers now and fails then is written once in 5 s', async () => {
  const { id, health, clock, becomes } = await createFixture()
  using writes = spyOn(db, 'updateTable')
  health.recordRefusal({ id, isFailing: false }, 'first')
  await becomes('error')
  clock.ms += 4999
  health.recordAnswer({ id, isFailing: true })
  expect(writes).toHaveBeenCalledTimes(1)
  clock.ms += 1
  health.recordAnswer({ id, isFailing: true })
  await becomes('active')
})

test('keeps a connection that its owner disabled, and ignores one without a row', async () => {
  const { id, health, read, errors } = await createFixture('inactive')
  health.recordRefusal({ id, isFailing: false }, 'no')
  health.recordRefusal({ id: 'openai', isFailing: false }, 'no')
  // What is written after them is there.
  const later = await createFixture()
  health.recordRefusal({ id: later.id, isFailing: false }, 'no')
  await later.becomes('error')
  expect([(await read()).status, errors]).toEqual(['inactive', []])
})
