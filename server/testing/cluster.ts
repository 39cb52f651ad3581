import { spawn } from 'node:child_process'
import {
  chmod,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  rename,
  rm,
  stat,
  statfs,
  utimes,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Glob } from 'bun'
import { Client } from 'pg'
import { getServerAccount } from '../src/platform/embedded-postgres/account'
import { database as template, superuser, user } from '../src/platform/embedded-postgres/cluster'
import { openHome, type ServerHome } from '../src/platform/embedded-postgres/home'
import { identity, serverEnvironment } from '../src/platform/embedded-postgres/run'
import { openSocketDirectory, port } from '../src/platform/embedded-postgres/socket-directory'
import { readPidFile } from '../src/platform/embedded-postgres/takeover'
import { Database, type DatabaseAddress } from '../src/platform/db/database'
import { migrate } from '../src/platform/db/migrate'
import { WaitTimeoutError } from './eventually'
import { embeddedBuild, systemBuild, type PostgresBuild } from './postgres-build'

export { template }

const sources = join(import.meta.dir, '../src/platform')
const cache = join(import.meta.dir, '../../node_modules/.cache/tollgate-clusters')
const weekMs = 7 * 86_400_000
const readyMs = 60_000
const memory = '/dev/shm'
/** Ten times the space that a run uses at once. */
const roomBytes = 2 * 2 ** 30

/**
 * The settings of a PostgreSQL for tests that neither kill nor configure it. It never syncs: tests of power cuts use
 * the product's own servers.
 */
const settings = {
  listen_addresses: '',
  unix_socket_permissions: '0700',
  port,
  max_connections: 500,
  shared_buffers: '128MB',
  max_wal_size: '4GB',
  checkpoint_timeout: '1h',
  fsync: 'off',
  full_page_writes: 'off',
  wal_level: 'minimal',
  max_wal_senders: 0,
  // Autovacuum would visit hundreds of databases that last for seconds.
  autovacuum: 'off',
  max_parallel_workers_per_gather: 0,
  timezone: 'UTC',
  log_timezone: 'UTC',
}

type Address = DatabaseAddress & { host: string; user: string; password: string }

export interface Cluster extends AsyncDisposable {
  /** The address, with the ordinary role that owns `template`, the database in it that is migrated. */
  address: Address
  /** The same with the superuser. */
  admin: Address
}

/**
 * Starts a PostgreSQL whose database `template` is migrated: a copy of one that is made once per version. It is the one
 * that Tollgate embeds, or with `TEST_POSTGRES=system` the system's newest.
 */
export async function startCluster(): Promise<Cluster> {
  await using stack = new AsyncDisposableStack()
  const isSystem = process.env['TEST_POSTGRES'] === 'system'
  const build = await (isSystem ? systemBuild() : embeddedBuild())
  const home = await newHome(stack)
  const template = await templateOf(build)
  for (const name of ['cluster', 'password']) await copy(join(template, name), home.path)
  const address = await launch(build, home, stack)
  const owned = stack.move()
  const admin = { ...address, user: superuser }
  return { address, admin, [Symbol.asyncDispose]: () => owned.disposeAsync() }
}

/**
 * Returns a folder with `cluster` and `password`, in the state of an embedded PostgreSQL's home after a first start
 * that was stopped: to be copied, with owners and modes.
 */
export const templateHome = async () => templateOf(await embeddedBuild())

async function templateOf(build: PostgresBuild): Promise<string> {
  const template = join(cache, await version(build))
  if (!(await isThere(template))) await makeTemplate(build, template)
  const now = new Date()
  await utimes(template, now, now)
  return template
}

/** Returns a version that changes with PostgreSQL and with all of our files that may make the cluster or the schema. */
async function version({ name }: PostgresBuild): Promise<string> {
  const hash = new Bun.CryptoHasher('sha256')
  hash.update(name)
  const paths = await Array.fromAsync(new Glob('{db,embedded-postgres}/**/*.ts').scan(sources))
  for (const path of paths.filter((path) => !path.endsWith('.test.ts')).toSorted()) {
    hash.update(`${path}\n${await readFile(join(sources, path), 'utf8')}\n`)
  }
  return `${(await getServerAccount()).uid}-${hash.digest('hex').slice(0, 24)}`
}

async function makeTemplate(build: PostgresBuild, target: string): Promise<void> {
  await using stack = new AsyncDisposableStack()
  const home = await newHome(stack)
  await build.create(home, await build.install(home.path))
  {
    await using running = new AsyncDisposableStack()
    const address = await launch(build, home, running)
    await prepare(build, address)
    await using database = new Database(
      { ...address, database: template },
      { poolSize: 2, statementMs: readyMs, onError: () => undefined },
    )
    await migrate(database.query)
  }
  await mkdir(cache, { recursive: true })
  await removeOld()
  const draft = await mkdtemp(join(cache, 'draft-'))
  await copy(home.cluster, draft)
  await copy(join(home.path, 'password'), draft)
  // Another run may have been faster: its result is equally good.
  await rename(draft, target).catch(() => rm(draft, { recursive: true, force: true }))
}

async function prepare(build: PostgresBuild, address: Address): Promise<void> {
  const admin = new Client({ ...address, user: superuser, database: 'template1' })
  await admin.connect()
  try {
    await build.prepare(admin, address.password)
  } finally {
    await admin.end()
  }
}

async function removeOld(): Promise<void> {
  for (const name of await readdir(cache)) {
    const { mtimeMs } = await stat(join(cache, name))
    if (Date.now() - mtimeMs > weekMs) await rm(join(cache, name), { recursive: true, force: true })
  }
}

async function newHome(stack: AsyncDisposableStack): Promise<ServerHome> {
  const path = await mkdtemp(join(await quickDirectory(), 'tollgate-test-'))
  await chmod(path, 0o711)
  stack.defer(() => rm(path, { recursive: true, force: true }))
  return openHome(path, await getServerAccount(), () => undefined)
}

/**
 * Chooses a directory in memory where there is room, as its content is temporary: a disk is slow while others write to
 * it.
 */
async function quickDirectory(): Promise<string> {
  const found = await statfs(memory).catch(() => undefined)
  return found && found.bavail * found.bsize > roomBytes ? memory : tmpdir()
}

const isThere = (path: string) =>
  stat(path).then(
    () => true,
    () => false,
  )

/** Copies with owners and modes, as the files must belong to the server's account. */
export async function copy(from: string, to: string): Promise<void> {
  const { exitCode, stderr } = Bun.spawnSync(['cp', '-a', from, to])
  if (exitCode !== 0) throw new Error(`${from} could not be copied: ${stderr.toString()}`)
}

async function launch(
  build: PostgresBuild,
  home: ServerHome,
  stack: AsyncDisposableStack,
): Promise<Address> {
  const programs = await build.install(home.path)
  const host = await openSocketDirectory(home)
  const values = Object.entries({ ...settings, unix_socket_directories: `"${host}"` })
  const options = values.flatMap(([name, value]) => ['-c', `${name}=${value}`])
  const log = Bun.file(join(home.path, 'server.log'))
  const child = spawn(join(programs, 'bin/postgres'), ['-D', home.cluster, ...options], {
    ...identity(home.account),
    cwd: home.cluster,
    // Ctrl-C is meant for the test runner: PostgreSQL is stopped after the tests.
    detached: true,
    stdio: ['ignore', 'ignore', 'pipe'],
    env: serverEnvironment,
  })
  const { promise: exited, resolve } = Promise.withResolvers<string>()
  child.once('exit', (code, signal) => resolve(`exited with ${signal ?? code}`))
  child.once('error', ({ message }) => resolve(message))
  const writer = log.writer()
  child.stderr.on('data', (bytes: Uint8Array) => void writer.write(bytes))
  const end = () => void child.kill('SIGINT')
  process.once('exit', end)
  stack.defer(async () => {
    end()
    await exited
    process.off('exit', end)
    await writer.end()
  })
  const deadline = performance.now() + readyMs
  while ((await readPidFile(home.cluster))?.status !== 'ready') {
    const ended = await Promise.race([exited, Bun.sleep(5)])
    if (ended === undefined && performance.now() < deadline) continue
    const why = await log.text().catch(() => '')
    if (ended === undefined) throw new WaitTimeoutError(`PostgreSQL, so far: ${why}`, readyMs)
    throw new Error(`PostgreSQL did not start: ${ended} ${why}`)
  }
  const password = (await readFile(join(home.path, 'password'), 'utf8')).trim()
  return { host, port, user, password }
}
