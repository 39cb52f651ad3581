import { afterAll, beforeAll, expect, test } from 'bun:test'
import { sql } from 'kysely'
import { copyRows } from './copy-rows'
import type { Database } from './database'
import { isUniqueViolation } from './violation'
import { openTestDatabase } from '../../../testing/db/database'

const stack = new AsyncDisposableStack()
let database: Database

beforeAll(async () => {
  database = await openTestDatabase(stack)
  await sql`create table copied (id text primary key, note text, data jsonb)`.execute(
    database.query,
  )
})
afterAll(() => stack.disposeAsync())

const statement = `copy copied (id, note, data) from stdin (format csv, quote '"', escape '\\', null 'null')`

const read = async () =>
  (await sql<object>`select * from copied order by id`.execute(database.query)).rows

test('any number of rows is inserted with the rest of a transaction', async () => {
  const lines = Array.from({ length: 5000 }, (_, index) => `"many-${index}",null,null`)
  await database.query.transaction().execute(async (trx) => {
    await copyRows(trx, statement, lines.join('\n'))
    await sql`delete from copied where id <> 'many-7'`.execute(trx)
  })
  expect(await read()).toEqual([{ id: 'many-7', note: null, data: null }])
  await sql`delete from copied`.execute(database.query)
})

test('texts of JSON are read as they were: quotes, backslashes, commas, the empty text and "null"', async () => {
  const texts = ['say "hi", all', 'back\\slash', '', 'null', 'ü☃', '\\.']
  const data = { a: 'x "y", \\ z' }
  const lines = texts.map((text, index) =>
    JSON.stringify([String(index), text, JSON.stringify(data)]).slice(1, -1),
  )
  await database.query.transaction().execute((trx) => copyRows(trx, statement, lines.join('\n')))
  expect(await read()).toEqual(texts.map((note, index) => ({ id: String(index), note, data })))
  await sql`delete from copied`.execute(database.query)
})

test('a row that exists rejects the transaction, and the connection stays usable', async () => {
  const twice = database.query.transaction().execute(async (trx) => {
    await copyRows(trx, statement, '"one",null,null')
    await copyRows(trx, statement, '"two",null,null\n"one",null,null')
  })
  expect(isUniqueViolation(await twice.catch((thrown: unknown) => thrown))).toBe(true)
  expect(await read()).toEqual([])
  const broken = database.query.transaction().execute((trx) => copyRows(trx, statement, '"one"'))
  await expect(broken).rejects.toThrow('missing data for column')
  expect(await read()).toEqual([])
})
