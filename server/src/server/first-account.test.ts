import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { sql } from 'kysely'
import { createFirstAccount } from './first-account'
import type { Database } from '../platform/db/database'
import { openTestDatabase } from '../../testing/db/database'
import { hashOf } from '../auth/api-key'

const stack = new AsyncDisposableStack()
afterAll(() => stack.disposeAsync())

let dataDir: string

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'first-account-'))
  stack.defer(() => rm(dataDir, { recursive: true }))
})

const create = (database: Database, within: string) =>
  createFirstAccount(database.query, { dataDir: within, credit: 5_000_000_000n })

async function readAccounts({ query }: Database) {
  const { rows } = await sql`
    select posted, hash from users
    join credit_account using (id) left join api_key on user_id = users.id`.execute(query)
  return rows
}

test('a start that ends before the key is in its file leaves no account: the next one creates all of it', async () => {
  const database = await openTestDatabase(stack)
  await expect(create(database, join(dataDir, 'missing'))).rejects.toThrow('ENOENT')
  expect(await readAccounts(database)).toEqual([])
  const { key = '', path = '' } = await create(database, dataDir)
  expect(await readFile(path, 'utf8')).toBe(`${key}\n`)
  expect(await readAccounts(database)).toEqual([
    { posted: 5_000_000_000n, hash: Buffer.from(hashOf(key), 'hex') },
  ])
})

test('of four processes that start at once, one creates the account, and its key is in the file', async () => {
  const database = await openTestDatabase(stack)
  const accounts = await Promise.all([1, 2, 3, 4].map(() => create(database, dataDir)))
  const keys = accounts.flatMap(({ key }) => key ?? [])
  expect(keys).toHaveLength(1)
  expect(await readFile(join(dataDir, 'first-key'), 'utf8')).toBe(`${keys[0]}\n`)
  expect(await readAccounts(database)).toHaveLength(1)
})

test('a start whose database fails reports it: only a taken address means another process', async () => {
  const database = await openTestDatabase(stack)
  await database.query.schema.alterTable('api_key').renameTo('api_key_away').execute()
  await expect(create(database, dataDir)).rejects.toThrow('api_key')
})
