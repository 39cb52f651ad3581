import { afterAll, beforeAll, expect, test } from 'bun:test'
import { createExports } from './export'
import type { StreamTimeouts } from '../../../http/timed-stream'
import type { Database } from '../../../platform/db/database'
import { openTestDatabase } from '../../../../testing/db/database'
import { newId } from '../../../platform/db/id'
import { eventually } from '../../../../testing/eventually'

const stack = new AsyncDisposableStack()
let database: Database
beforeAll(async () => {
  database = await openTestDatabase(stack)
})
afterAll(() => stack.disposeAsync(), 30_000)

async function newUser(): Promise<string> {
  const id = newId('user')
  const row = { id, email: `${id}@example.com`, display_name: 'One' }
  await database.query.insertInto('users').values(row).execute()
  return id
}

const exporting = (timeouts?: StreamTimeouts) => createExports(database.query, { timeouts })

const busy = () => database.connections.total - database.connections.idle

/** Resolves once no connection is in use. */
const untilIdle = () => eventually(() => busy() === 0)

const textOf = (stream: ReadableStream) => new Response(stream).text()

test('an unread export, such as the answer to a HEAD, holds no connection', async () => {
  const id = await newUser()
  const stream = await exporting()(id)
  // A reader would be in a transaction by then.
  for (let times = 0; times < 5; times++) await database.ping()
  expect(busy()).toBe(0)
  expect(await textOf(stream)).toContain(id)
  await untilIdle()
})

test('an account has one export at a time, however the one before ended', async () => {
  const [id, other] = [await newUser(), await newUser()]
  const exportOf = exporting()
  const first = (await exportOf(id)).getReader()
  await first.read()
  await expect(exportOf(id)).rejects.toThrow('is being exported')
  expect(await textOf(await exportOf(other))).toContain(other)
  await first.cancel()
  await untilIdle()
  expect(await textOf(await exportOf(id))).toContain(id)
  expect(await textOf(await exportOf(id))).toContain(id)
})

test('a stopped reader keeps no connection, and does not block the next export of the account', async () => {
  const id = await newUser()
  const timeouts = { maxDurationMs: 60_000, stalledMs: 3000 }
  const exportOf = exporting(timeouts)
  const reader = (await exportOf(id)).getReader()
  await reader.read()
  expect(busy()).toBe(1)
  await untilIdle()
  await expect(reader.read()).rejects.toThrow('took too long')
  // The next export, whose reader is only late, is not to stop.
  timeouts.stalledMs = 60_000
  expect(await textOf(await exportOf(id))).toContain(id)
})

test('an export that exceeds its total time is ended, although it is read', async () => {
  const id = await newUser()
  const reader = (await exporting({ maxDurationMs: 0, stalledMs: 60_000 })(id)).getReader()
  const reading = async () => {
    for (;;) {
      if ((await reader.read()).done) return
      await Bun.sleep(0)
    }
  }
  await expect(reading()).rejects.toThrow('took too long')
  await untilIdle()
})
