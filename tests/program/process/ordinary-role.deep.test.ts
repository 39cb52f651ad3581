import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { chown, mkdir, mkdtemp, realpath, rename, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SQL } from 'bun'
import { Database } from '../../../server/src/platform/db/database'
import { migrateWithin } from '../../../server/src/platform/db/migrate'
import { openSession } from '../../../server/src/platform/db/session'
import { getServerAccount } from '../../../server/src/platform/embedded-postgres/account'
import { openHome } from '../../../server/src/platform/embedded-postgres/home'
import { findInstalledPrograms } from '../../../server/src/platform/embedded-postgres/installed-package'
import { installPrograms } from '../../../server/src/platform/embedded-postgres/programs'
import { run } from '../../../server/src/platform/embedded-postgres/run'
import { eventually } from '../../../server/testing/eventually'
import { createCustomer } from '../../../server/testing/ledger/customer'
import { openAdmin, openDatabase } from '../../harness/database'
import { messages, sendRequest } from '../../harness/http'
import {
  findSystemProgram,
  startPostgres,
  type PostgresServer,
} from '../../harness/postgres-server'
import { runCommand } from '../../harness/run-command'
import { readCompose, readPackageFile } from '../deploy/render'
import { newDataDir, startGateway, startRig, type Customer } from '../../harness/server'

setDefaultTimeout(120_000)

const stack = new AsyncDisposableStack()
let postgres: PostgresServer
let files: string
beforeAll(async () => {
  postgres = stack.use(await startPostgres())
  files = await mkdtemp(join(tmpdir(), 'tollgate-role-'))
  stack.defer(() => rm(files, { recursive: true, force: true }))
})
afterAll(() => stack.disposeAsync(), 30_000)

const urlOf = (name: string, role = 'tollgate') =>
  Object.assign(new URL(postgres.url), { username: role, pathname: `/${name}` }).href

async function newDatabase(name: string, owner = 'tollgate'): Promise<string> {
  await using admin = postgres.connectAdmin()
  await admin.unsafe(`create database ${name} owner ${owner}`)
  return urlOf(name, owner)
}

/** The settings of a node on that database, in a data directory of its own. */
async function settingsOf(url: string) {
  const dataDir = await newDataDir()
  stack.defer(() => rm(dataDir, { recursive: true, force: true }))
  const key = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64')
  return { DATA_DIR: dataDir, DATABASE_URL: url, ENCRYPTION_KEY: key }
}
type Settings = Awaited<ReturnType<typeof settingsOf>>

/** Serves a paid request, and ends once it is booked. Returns the customer. */
async function serve(settings: Settings): Promise<Customer> {
  await using rig = await startRig({ dataDir: settings.DATA_DIR, environment: settings })
  const model = await rig.model('ok')
  const customer = await rig.gateway.customer({}, { credit: 5 })
  const { status } = await sendRequest(rig.gateway, {
    key: customer.key,
    body: { model, messages },
  })
  expect(status).toBe(200)
  await using sql = new SQL(settings.DATABASE_URL, { max: 1 })
  await eventually(async () => {
    const booked = await sql`
      select id from usage_event where user_id = ${customer.userId} and cost > 0`
    return booked.length > 0
  })
  return customer
}

async function expectSound(settings: Settings): Promise<void> {
  const { code, out } = await runCommand('audit', settings)
  expect([code, out]).toEqual([0, expect.stringContaining('in order')])
}

async function expectServed(settings: Settings, { key }: Customer): Promise<void> {
  await using gateway = await startGateway({ dataDir: settings.DATA_DIR, environment: settings })
  const { status } = await sendRequest(gateway, { key, body: { model: 'sandbox/echo', messages } })
  expect(status).toBe(200)
  const granted = await gateway.customer({}, { credit: 1 })
  expect(granted.key).toBeString()
}

test('finding M17: as a role that only owns its database, Tollgate migrates, grants, serves, audits, backs up and restores', async () => {
  const settings = await settingsOf(postgres.url)
  const migrated = await runCommand('migrate', settings)
  expect([migrated.code, migrated.err]).toEqual([0, ''])
  const customer = await serve(settings)
  await expectSound(settings)

  const file = join(files, 'ordinary.tar.gz')
  const made = await runCommand('backup', settings, file)
  expect([made.code, made.err]).toEqual([0, ''])
  const elsewhere = { ...settings, DATABASE_URL: await newDatabase('restored') }
  for (const [target, args] of [
    [elsewhere, []],
    [settings, ['--force']],
  ] as const) {
    const restored = await runCommand('restore', target, file, ...args)
    expect([restored.code, restored.err]).toEqual([0, ''])
    await expectSound(target)
    await expectServed(target, customer)
    await expectSound(target)
  }
})

test('finding M17: a database that a superuser made with an earlier version works once its owner is an ordinary role', async () => {
  {
    await using admin = postgres.connectAdmin()
    await admin`create role founder superuser login`
  }
  const founded = await newDatabase('founded', 'founder')
  {
    const options = { poolSize: 2, onError: () => undefined }
    await using database = new Database({ connectionString: founded }, options)
    await using session = await openSession(database, 60_000)
    await migrateWithin(session.query, '0049-failed-logs')
    await createCustomer(database, 1000n)
    await session.client.query('reassign owned by founder to tollgate')
  }
  const settings = await settingsOf(urlOf('founded'))
  const customer = await serve(settings)
  await expectSound(settings)
  await expectServed(settings, customer)
})

const [dump, restore, psql] = await Promise.all(
  ['pg_dump', 'pg_restore', 'psql'].map(findSystemProgram),
)

test.skipIf(!dump || !restore)(
  'finding M17: pg_dump and pg_restore --no-owner --no-acl move it to another ordinary role (needs pg_dump)',
  async () => {
    const settings = await settingsOf(await newDatabase('dumped'))
    const customer = await serve(settings)
    const file = join(files, 'dumped.dump')
    {
      await using admin = postgres.connectAdmin()
      await admin`create role mover login`
    }
    const moved = { ...settings, DATABASE_URL: await newDatabase('moved', 'mover') }
    for (const command of [
      [dump, '--format=custom', `--file=${file}`, settings.DATABASE_URL],
      [restore, '--no-owner', '--no-acl', '--exit-on-error', '-d', moved.DATABASE_URL, file],
    ]) {
      const { exitCode, stderr } = Bun.spawnSync(command.map((word) => word ?? ''))
      expect([exitCode, stderr.toString()]).toEqual([0, ''])
    }
    await expectSound(moved)
    await expectServed(moved, customer)
    await expectSound(moved)
  },
)

test.skipIf(!psql)(
  'finding M17: the compose file makes such a role, with its password (needs psql)',
  async () => {
    const { environment = {}, volumes = [] } = (await readCompose())['postgres'] ?? {}
    // POSTGRES_USER would name the superuser.
    expect(Object.keys(environment)).toEqual(['POSTGRES_PASSWORD'])
    const [, file = ''] = /^\.\/(\S+):\/docker-entrypoint-initdb\.d\//.exec(volumes[1] ?? '') ?? []
    const script = await readPackageFile(`compose/${file}`)
    const { exitCode, stderr } = Bun.spawnSync(
      [psql ?? '', '--no-psqlrc', '--set=ON_ERROR_STOP=1', postgres.adminUrl],
      {
        stdin: Buffer.from(script.replaceAll('tollgate', 'composed')),
        env: { POSTGRES_PASSWORD: "it's $ecret" },
      },
    )
    expect([exitCode, stderr.toString()]).toEqual([0, ''])
    await using admin = postgres.connectAdmin()
    const [row] = await admin`
      select rolsuper as "isSuperuser", rolpassword like 'SCRAM%' as "hasPassword",
        datdba = pg_authid.oid as owns
      from pg_authid, pg_database where rolname = 'composed' and datname = 'composed'`
    expect({ ...row }).toEqual({ isSuperuser: false, hasPassword: true, owns: true })
  },
)

test('finding M17: a role that may not create tables receives an error that names the required rights', async () => {
  {
    await using admin = postgres.connectAdmin()
    await admin`create role guest login`
  }
  await newDatabase('closed')
  const { code, err } = await runCommand('migrate', await settingsOf(urlOf('closed', 'guest')))
  expect([code, err]).toEqual([
    1,
    expect.stringMatching(/permission denied.*must own the database/),
  ])
})

/** The role of a connection to an embedded database. */
async function roleIn(dataDir: string, open: typeof openDatabase) {
  await using sql = await open(dataDir)
  const [row] = await sql`
    select current_user as name, rolsuper as "isSuperuser", datdba = pg_roles.oid as owns
    from pg_roles, pg_database
    where rolname = current_user and datname = current_database()`
  return { ...row }
}

test('finding M17: the embedded database is owned by an ordinary role', async () => {
  await using gateway = await startGateway({ database: 'embedded', process: 'own' })
  const { dataDir } = gateway
  const owner = { name: 'tollgate', isSuperuser: false, owns: true }
  expect(await roleIn(dataDir, openDatabase)).toEqual(owner)
  const admin = { name: 'postgres', isSuperuser: true, owns: false }
  expect(await roleIn(dataDir, openAdmin)).toEqual(admin)
})

/** A data directory with an empty cluster as versions up to 0.5.0 created it: Tollgate's role is its superuser. */
async function earlierDataDir(): Promise<string> {
  const dataDir = await newDataDir()
  stack.defer(() => rm(dataDir, { recursive: true, force: true }))
  const account = await getServerAccount()
  const home = await openHome(await realpath(dataDir), account, () => undefined)
  const bin = join(await installPrograms(home.path, await findInstalledPrograms()), 'bin')
  const cwd = join(home.path, 'draft-earlier')
  const [cluster, password] = [join(cwd, 'cluster'), join(cwd, 'password')]
  await mkdir(cwd, { mode: 0o700 })
  await writeFile(password, 'of-an-earlier-version')
  if (account.isForeign)
    for (const path of [cwd, password]) await chown(path, account.uid, account.gid)
  const locale = ['--encoding=UTF8', '--locale-provider=builtin', '--builtin-locale=C.UTF-8']
  const options = ['-U', 'tollgate', '--pwfile', password, '--locale=C', ...locale]
  for (const { program, args, input = '' } of [
    { program: 'initdb', args: ['-D', cluster, ...options, '--auth=scram-sha-256', '--no-sync'] },
    {
      program: 'postgres',
      args: ['--single', '-F', '-D', cluster, 'template1'],
      input: 'alter database postgres rename to tollgate;\n',
    },
  ]) {
    const command = { command: join(bin, program), args, input, account, cwd, timeoutMs: 60_000 }
    expect(await run(command)).toMatchObject({ succeeded: true })
  }
  await writeFile(join(cluster, 'pg_hba.conf'), 'local all all scram-sha-256\n')
  await rename(cluster, home.cluster)
  await rename(password, join(home.path, 'password'))
  return dataDir
}

test('finding M17: an embedded database of an earlier version goes on with its superuser', async () => {
  const dataDir = await earlierDataDir()
  await using gateway = await startGateway({ dataDir })
  const role = { name: 'tollgate', isSuperuser: true, owns: true }
  expect(await roleIn(dataDir, openDatabase)).toEqual(role)
  const { key } = await gateway.customer({}, { credit: 1 })
  const { status } = await sendRequest(gateway, { key, body: { model: 'sandbox/echo', messages } })
  expect(status).toBe(200)
  const { code, out } = await runCommand('audit', { DATA_DIR: dataDir })
  expect([code, out]).toEqual([0, expect.stringContaining('in order')])
})
