import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import type { Database } from './database'
import { openTestDatabase } from '../../../testing/db/database'
import { migrate } from './migrate'
import released from './migrations-released.json'

const folder = join(import.meta.dir, 'migrations')
const stack = new AsyncDisposableStack()
let database: Database

beforeAll(async () => {
  database = await openTestDatabase(stack)
})
afterAll(() => stack.disposeAsync())

const had = (name: string) =>
  sql`insert into kysely_migration (name, timestamp) values (${name}, ${new Date().toISOString()})`.execute(
    database.query,
  )

describe('L07: a database that a later version has brought up to date', () => {
  test('is taken as it is, again and again', async () => {
    await had('9998-of-a-later-version')
    await had('9999-of-a-later-version')
    await migrate(database.query)
    await migrate(database.query)
    const { rows } = await sql`select from kysely_migration where name > '9'`.execute(
      database.query,
    )
    expect(rows).toHaveLength(2)
  })

  test('rejects one with unknown changes among ours', async () => {
    await had('0000-of-another-program')
    await expect(migrate(database.query)).rejects.toThrow(/brought up to date.*0000-of-another/)
  })
})

const textOf = (name: string) => readFile(join(folder, `${name}.ts`), 'utf8')
const known = new Map<string, string>(Object.entries(released))

test('L07: released migrations do not change', async () => {
  for (const [name, hash] of known) {
    const found = createHash('sha256')
      .update(await textOf(name))
      .digest('hex')
    expect([name, found]).toEqual([name, hash])
  }
})

/** What the version before cannot live with, while both run: it would have to come a release later. */
const contracts =
  /\b(drop\s+(table|column)|rename\s+(to|column)|alter\s+(column\s+)?\w+\s+(set\s+data\s+)?type|set\s+not\s+null)\b|\.(dropTable|dropColumn|renameTo|renameColumn|setNotNull|setDataType)\(/i

test('L07: unreleased migrations only add, so that the previous version keeps running', async () => {
  const names = (await readdir(folder)).map((file) => file.replace(/\.ts$/, ''))
  for (const name of names.filter((each) => !known.has(each))) {
    const [, body = ''] =
      /export async function up([\s\S]*?)(?:export async function down|$)/.exec(
        await textOf(name),
      ) ?? []
    expect([name, contracts.exec(body)?.[0]]).toEqual([name, undefined])
  }
})
