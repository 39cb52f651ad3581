import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sql } from 'kysely'
import type { Database } from './database'
import { openTestDatabase } from './database-for-tests'

const stack = new AsyncDisposableStack()
let database: Database

beforeAll(async () => {
  database = await openTestDatabase(stack)
}, 30_000)
afterAll(() => stack.disposeAsync())

test('D01: a connection that breaks between two statements of a transaction ends no process', async () => {
  const broken = database.query.transaction().execute(async (trx) => {
    const { rows } = await sql<{ pid: number }>`select pg_backend_pid() as pid`.execute(trx)
    await sql`select pg_terminate_backend(${rows[0]?.pid})`.execute(database.query)
    await Bun.sleep(100)
    await sql`select 1`.execute(trx)
  })
  expect(broken).rejects.toThrow()
  await broken.catch(() => undefined)
  await database.ping()
})
