import { afterAll, expect, test } from 'bun:test'
import { Client } from 'pg'
import { dropDatabase, newDatabase } from './databases'
import { embeddedBuild, systemBuild } from './postgres-build'
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

test('a database has every migration, and nothing of another one', async () => {
  const [one, other] = await Promise.all([newOne(), newOne()])
  await query(one, 'create table mark ()')
  const found = await query(other, 'select name from kysely_migration order by name')
  expect(found).toEqual(migrationNames.map((name) => ({ name })))
  expect(await query(other, `select to_regclass('mark') as mark`)).toEqual([{ mark: null }])
})

test('the databases are in the PostgreSQL that TEST_POSTGRES names, and belong to an ordinary role', async () => {
  const isSystem = process.env['TEST_POSTGRES'] === 'system'
  const { name } = await (isSystem ? systemBuild() : embeddedBuild())
  const [, major] = /^(?:system|server)-(\d+)/.exec(name) ?? []
  const text = `
    select current_setting('server_version_num')::integer / 10000 as major, rolsuper as super
    from pg_roles where rolname = current_user`
  const expected = [{ major: Number(major), super: false }]
  // Another PostgreSQL, with its own roles, may be configured.
  if (!process.env['TEST_DATABASE_URL']) expect(await query(await newOne(), text)).toEqual(expected)
})

test('a dropped database is gone, also while a client is connected', async () => {
  const url = await newOne()
  const client = new Client({ connectionString: url })
  client.on('error', () => undefined)
  await client.connect()
  await dropDatabase(url)
  await expect(query(url, 'select 1')).rejects.toThrow(/does not exist/)
})
