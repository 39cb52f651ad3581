import { afterAll, expect, test } from 'bun:test'
import { Client } from 'pg'
import { dropDatabase, newDatabase } from './databases'
import { migrationNames } from '../src/platform/db/migrate'

const made: string[] = []
afterAll(() => Promise.all(made.map(dropDatabase)))

async function newOne(): Promise<string> {
  const url = await newDatabase()
  made.push(url)
  return url
}

async function query(url: string, text: string): Promise<unknown[]> {
  const client = new Client({ connectionString: url })
  await client.connect()
  try {
    return (await client.query(text)).rows
  } finally {
    await client.end()
  }
}

test('a database has every migration, and nothing of what another one was given', async () => {
  const [one, other] = await Promise.all([newOne(), newOne()])
  await query(one, 'create table mark ()')
  const found = await query(other, 'select name from kysely_migration order by name')
  expect(found).toEqual(migrationNames.map((name) => ({ name })))
  expect(await query(other, `select to_regclass('mark') as mark`)).toEqual([{ mark: null }])
})

test('one that is dropped is gone, also while a client is connected', async () => {
  const url = await newOne()
  const client = new Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  await dropDatabase(url)
  await expect(query(url, 'select 1')).rejects.toThrow(/does not exist/)
})
