import { afterAll, beforeAll, expect, test } from 'bun:test'
import { mkdir, mkdtemp, readFile, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SQL } from 'bun'
import { runCommand } from '../../harness/run-command'
import { writeBackup } from '../../../server/src/commands/backup/write'
import { Database } from '../../../server/src/platform/db/database'
import { newId } from '../../../server/src/platform/db/id'
import { migrateWithin, migrationNames } from '../../../server/src/platform/db/migrate'
import { openSession } from '../../../server/src/platform/db/session'
import { startPostgres, type PostgresServer } from '../../harness/postgres-server'

/** A whole backup, with its keys. */
const released = join(import.meta.dir, '../../../server/testing/formats/backup-0.1.0.tar.gz')

const stack = new AsyncDisposableStack()
let postgres: PostgresServer
let files: string
beforeAll(async () => {
  postgres = stack.use(await startPostgres())
  files = await mkdtemp(join(tmpdir(), 'tollgate-backup-'))
  stack.defer(() => rm(files, { recursive: true, force: true }))
})
afterAll(() => stack.disposeAsync(), 30_000)

let databases = 0

/** A database of its own for one test, a data directory, and commands on them. */
async function newTarget() {
  const name = `target_${++databases}`
  const url = Object.assign(new URL(postgres.url), { pathname: `/${name}` }).href
  {
    await using host = postgres.connectAdmin()
    await host.unsafe(`create database ${name} owner tollgate`)
  }
  const connect = (to: string) => {
    const sql = new SQL(Object.assign(new URL(to), { pathname: `/${name}` }).href, { max: 1 })
    // Without a limit it was seen to wait for ever.
    stack.defer(() => sql.close({ timeout: 1 }))
    return sql
  }
  const sql = connect(postgres.url)
  const dataDir = join(files, name)
  await mkdir(dataDir)
  const run = (command: string, args: readonly string[], environment = {}) =>
    runCommand(command, { DATA_DIR: dataDir, DATABASE_URL: url, ...environment }, ...args)
  const admin = () => connect(postgres.adminUrl)
  return { sql, admin, dataDir, run, address: { connectionString: url } }
}

type Target = Awaited<ReturnType<typeof newTarget>>

async function restored(): Promise<Target> {
  const target = await newTarget()
  const { code, err } = await target.run('restore', [released])
  expect([code, err]).toEqual([0, ''])
  return target
}

const usersIn = async ({ sql }: Target) => (await sql`select id from users order by id`).length

const otherKey = Buffer.alloc(32, 'another key').toString('base64')

test('a database of another application is never dropped, though it migrates by Kysely as well', async () => {
  const target = await newTarget()
  await target.sql.unsafe(`
    create table kysely_migration (name text primary key, timestamp text not null);
    insert into kysely_migration values ('2024-first', '2024-01-01');
    create table orders (id integer)`)
  const { code, err } = await target.run('restore', [released, '--force'])
  expect([code, err]).toEqual([
    2,
    expect.stringContaining('objects of other applications: kysely_migration, orders'),
  ])
  expect([...(await target.sql`select name from kysely_migration`)]).toEqual([
    { name: '2024-first' },
  ])
})

test('tables beside those of Tollgate are named, and never dropped', async () => {
  const target = await restored()
  const { sql } = target
  await sql.unsafe(`
    create table orders (id integer); insert into orders values (1);
    create function total() returns integer language sql as 'select 1'`)
  const refused = await target.run('restore', [released, '--force'])
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('orders, total()')])
  expect((await sql`select id from orders`).length).toBe(1)
  expect(await usersIn(target)).toBe(3)

  await sql.unsafe(`
    drop table orders; drop function total();
    create schema reports; create view reports.spent as select cost from usage_event`)
  const read = await target.run('restore', [released, '--force'])
  expect([read.code, read.err]).toEqual([1, expect.stringMatching(/depend.*Nothing was changed/)])
  expect((await sql`select cost from reports.spent`).length).toBe(3)
}, 120_000)

test('skips and reports tables of other applications in a backup', async () => {
  const source = await restored()
  await source.sql.unsafe('create table orders (id serial); insert into orders values (1)')
  const file = join(files, 'with-orders.tar.gz')
  expect((await source.run('backup', [file, '--with-keys'])).code).toBe(0)
  const target = await newTarget()
  const { code, err } = await target.run('restore', [file])
  expect([code, err]).toEqual([0, expect.stringContaining('left out: orders')])
  expect(await usersIn(target)).toBe(3)
})

test('L07: a backup of an earlier schema is restored as of then, and brought up to date', async () => {
  const source = await newTarget()
  const file = join(files, 'earlier.tar.gz')
  {
    await using database = new Database(source.address, { poolSize: 1, onError: console.error })
    await using session = await openSession(database, 60_000)
    await migrateWithin(session.query, '0014-payments')
    const row = { id: newId('user'), email: 'early@example.com', display_name: 'Early' }
    await session.query.insertInto('users').values(row).execute()
    await writeBackup(session, file, { version: '0.0.9', dataDir: files, hasKeys: false })
  }
  const target = await newTarget()
  const { code, err } = await target.run('restore', [file])
  expect([code, err]).toEqual([0, ''])
  const made = await target.sql`select name from kysely_migration order by name`
  expect(made.map(({ name }: { name: string }) => name)).toEqual([...migrationNames])
  expect([...(await target.sql`select email from users`)]).toEqual([{ email: 'early@example.com' }])
  expect((await target.run('audit', [])).out).toContain('in order')
})

test('keeps tables of an extension', async () => {
  const target = await newTarget()
  const sql = target.admin()
  await sql.unsafe(`
    create table measured (id integer); create view seen as select id from measured;
    create function reset() returns integer language sql as 'select 1';
    alter extension plpgsql add table measured; alter extension plpgsql add view seen;
    alter extension plpgsql add function reset()`)
  const first = await target.run('restore', [released])
  expect([first.code, first.err]).toEqual([0, ''])
  const file = join(files, 'beside-extension.tar.gz')
  const backup = await target.run('backup', [file, '--json'])
  expect([backup.code, Object.keys(JSON.parse(backup.out).rows)]).toEqual([
    0,
    expect.not.arrayContaining(['measured']),
  ])
  const again = await target.run('restore', [file, '--force'])
  expect([again.code, again.err]).toEqual([0, ''])
  expect((await sql`select id, reset() from seen`).length).toBe(0)
  expect(await usersIn(target)).toBe(3)
}, 120_000)

test('a backup whose only secret signs sessions is not restored without its key', async () => {
  const source = await restored()
  await source.sql`delete from connection`
  const file = join(files, 'signs-only.tar.gz')
  expect((await source.run('backup', [file])).code).toBe(0)
  const target = await newTarget()
  const without = await target.run('restore', [file])
  expect([without.code, without.err]).toEqual([
    2,
    expect.stringContaining('not the key that opens'),
  ])
  const wrong = await target.run('restore', [file], { ENCRYPTION_KEY: otherKey })
  expect([wrong.code, wrong.err]).toEqual([2, expect.stringContaining('ENCRYPTION_KEY is not')])
  expect(await readdir(target.dataDir)).not.toContain('encryption-key')
  const key = (await readFile(join(source.dataDir, 'encryption-key'), 'utf8')).trim()
  const right = await target.run('restore', [file], { ENCRYPTION_KEY: key })
  expect([right.code, right.err]).toEqual([0, ''])
}, 120_000)

test('a rejected restore leaves no key; a completed one keeps the operator key', async () => {
  const target = await newTarget()
  const path = join(target.dataDir, 'encryption-key')
  await writeFile(path, `${otherKey}\n`)
  const refused = await target.run('restore', [released])
  expect([refused.code, refused.err]).toEqual([2, expect.stringContaining('ENCRYPTION_KEY is not')])
  expect(await readdir(target.dataDir)).not.toContain('admin-key')

  const source = await restored()
  const key = (await readFile(join(source.dataDir, 'encryption-key'), 'utf8')).trim()
  await rm(path)
  const done = await target.run('restore', [released, '--json'], { ENCRYPTION_KEY: key })
  expect([done.code, JSON.parse(done.out).keys]).toEqual([0, ['admin-key']])
  const made = (await readdir(target.dataDir)).filter((name) => name.endsWith('-key'))
  expect(made).toEqual(['admin-key'])
}, 120_000)

test('a table that others hold does not keep a restore from its end', async () => {
  const target = await newTarget()
  await target.sql.unsafe('create schema other; create table other.busy (id integer)')
  await target.sql.unsafe(`alter role tollgate set lock_timeout = '500ms'`)
  try {
    await target.sql.begin(async (trx) => {
      await trx.unsafe('lock table other.busy in share update exclusive mode')
      const { code, err } = await target.run('restore', [released])
      expect([code, err]).toEqual([0, ''])
    })
  } finally {
    await target.sql.unsafe('alter role tollgate reset lock_timeout')
  }
})

test('reports a failure after the restore as such', async () => {
  const target = await newTarget()
  await target.admin().unsafe(`
    create schema poison;
    grant usage on schema poison to public;
    create function poison.drop(id text) returns text immutable language plpgsql as $$ begin
      if current_query() ilike 'analyze%' then raise 'poisoned'; end if;
      return id;
    end $$;
    create function poison.put() returns event_trigger language plpgsql as $$ begin
      if exists (select from pg_event_trigger_ddl_commands() where object_identity = 'public.users')
      then create index on public.users (poison.drop(id)); end if;
    end $$;
    create event trigger poisoning on ddl_command_end when tag in ('CREATE TABLE')
      execute function poison.put()`)
  const { code, err } = await target.run('restore', [released])
  expect([code, err]).toEqual([0, expect.stringMatching(/all is restored, but .*poisoned/)])
  expect(await usersIn(target)).toBe(3)
})

test('a backup that fails on its way ends with 1, one without a database to read with 2', async () => {
  const source = await restored()
  const failed = await source.run('backup', [join(files, 'no-such-folder/one.tar.gz')])
  expect([failed.code, failed.out, failed.err]).toEqual([1, '', expect.stringContaining('ENOENT')])
  const empty = await newTarget()
  const nothing = await empty.run('backup', [join(files, 'none.tar.gz')])
  expect([nothing.code, nothing.err]).toEqual([2, expect.stringContaining('no Tollgate tables')])
  expect(await readdir(files)).not.toContain('none.tar.gz')
})
