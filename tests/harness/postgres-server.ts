import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm, chmod, chown } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SQL } from 'bun'
import {
  getServerAccount,
  type ServerAccount,
} from '../../server/src/platform/embedded-postgres/account'
import { identity, run, serverEnvironment } from '../../server/src/platform/embedded-postgres/run'
import { freeze } from './database'
import { embeddedBuild, findSystemPostgres } from '../../server/testing/postgres-build'
import { freePort } from './free-port'
import { askDatabase, untilAnswers } from './until-answers'

/** A PostgreSQL for tests, on a loopback port, for any number of nodes. */
export interface PostgresServer extends AsyncDisposable {
  port: number
  /** A `DATABASE_URL`, of an ordinary role that owns its database. */
  url: string
  /** The same database for what only a superuser may do. */
  adminUrl: string
  /** Stops it at once, as a power cut would: connections are cut, nothing is written. */
  kill: () => Promise<void>
  /** Restarts it at the same port, and waits until it answers. */
  restart: () => Promise<void>
  /** The process id of its postmaster. */
  readonly pid: number
  /** Keeps its state of this moment. */
  takeSnapshot: () => Promise<void>
  /**
   * Goes back to the snapshot, as by a failover to a standby that lags by the time since then: connections are cut, and what
   * was committed since is gone.
   */
  goBack: () => Promise<void>
  /** Freezes all its processes until disposed of. */
  freeze: () => Promise<Disposable>
  /** A connection for the test, as the ordinary role. */
  connect: () => SQL & AsyncDisposable
  /** The same as the superuser. */
  connectAdmin: () => SQL & AsyncDisposable
}

const superuser = 'postgres'

const defaults = {
  listen_addresses: '127.0.0.1',
  unix_socket_directories: '',
  max_connections: '200',
  // Only processes are killed here, not the machine.
  fsync: 'off',
}

/** Returns the path of a program of the system's newest PostgreSQL; undefined if it is not installed. */
export async function findSystemProgram(name: string): Promise<string | undefined> {
  const path = join((await findSystemPostgres()) ?? '', 'bin', name)
  return existsSync(path) ? path : undefined
}

/** Finds the system's newest PostgreSQL, else the one of the npm packages. */
const findProgramFolder = async (home: string): Promise<string> =>
  join((await findSystemPostgres()) ?? (await (await embeddedBuild()).install(home)), 'bin')

type Settings = Readonly<Record<string, string>>

interface Cluster {
  bin: string
  data: string
  port: number
  account: ServerAccount
  settings: Settings
}

async function createCluster(home: string, settings: Settings): Promise<Cluster> {
  const account = await getServerAccount()
  const data = join(home, 'cluster')
  await chmod(home, 0o755)
  await mkdir(data, { mode: 0o700 })
  if (account.isForeign) await chown(data, account.uid, account.gid)
  const bin = await findProgramFolder(home)
  const args = ['-D', data, '-U', superuser, '-A', 'trust', '-E', 'UTF8', '--no-sync']
  const made = { command: join(bin, 'initdb'), args, account, cwd: home, timeoutMs: 60_000 }
  const { succeeded, output } = await run(made)
  if (!succeeded) throw new Error(`initdb failed:\n${output}`)
  return { bin, data, port: freePort(), account, settings: { ...defaults, ...settings } }
}

async function spawn({ bin, data, port, account, settings }: Cluster) {
  const options = Object.entries({ ...settings, port }).flatMap(([name, value]) => [
    '-c',
    `${name}=${value}`,
  ])
  const child = Bun.spawn([join(bin, 'postgres'), '-D', data, ...options], {
    ...identity(account),
    env: serverEnvironment,
    cwd: '/',
    stdout: 'ignore',
    stderr: 'ignore',
  })
  await untilAnswers(child, 'PostgreSQL', () =>
    askDatabase(`postgres://${superuser}@127.0.0.1:${port}/postgres`),
  )
  return child
}

function connectTo(url: string): SQL & AsyncDisposable {
  const sql = new SQL(url, { max: 2 })
  return Object.assign(sql, { [Symbol.asyncDispose]: () => sql.close() })
}

/** Copies a directory with the owners of its files. */
async function copyDirectory(from: string, to: string): Promise<void> {
  await rm(to, { recursive: true, force: true })
  const copying = Bun.spawn(['cp', '-a', from, to], { stdout: 'ignore', stderr: 'ignore' })
  if ((await copying.exited) !== 0) throw new Error(`${from} could not be copied`)
}

/** Starts a server with an empty database `tollgate` of the role `tollgate`. `settings` are PostgreSQL's own, by name. */
export async function startPostgres(settings: Settings = {}): Promise<PostgresServer> {
  const home = await mkdtemp(join(tmpdir(), 'tollgate-postgres-'))
  const cluster = await createCluster(home, settings)
  const snapshot = join(home, 'snapshot')
  let child = await spawn(cluster)
  const urlOf = (role: string) => `postgres://${role}@127.0.0.1:${cluster.port}/tollgate`
  {
    const sql = new SQL(urlOf(superuser).replace(/tollgate$/, 'postgres'), { max: 1 })
    await sql`create role tollgate login`
    await sql`create database tollgate owner tollgate`
    await sql.close()
  }
  // Immediate shutdown: all its processes end, nothing is written.
  const kill = async () => {
    child.kill('SIGQUIT')
    await child.exited
  }
  return {
    port: cluster.port,
    url: urlOf('tollgate'),
    adminUrl: urlOf(superuser),
    get pid() {
      return child.pid
    },
    kill,
    restart: async () => {
      child = await spawn(cluster)
    },
    takeSnapshot: async () => {
      // What stands still is copied as a power cut would leave it.
      using _frozen = await freeze(child.pid)
      await copyDirectory(cluster.data, snapshot)
    },
    goBack: async () => {
      await kill()
      await copyDirectory(snapshot, cluster.data)
      await rm(join(cluster.data, 'postmaster.pid'), { force: true })
      child = await spawn(cluster)
    },
    freeze: () => freeze(child.pid),
    connect: () => connectTo(urlOf('tollgate')),
    connectAdmin: () => connectTo(urlOf(superuser)),
    async [Symbol.asyncDispose]() {
      await kill()
      await rm(home, { recursive: true, force: true })
    },
  }
}
