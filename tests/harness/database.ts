import { readFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { SQL } from 'bun'
import { startGateway, type Gateway, type RigOptions } from './server'
import { sharedSettings } from './shared-database'
import { superuser, user } from '../../server/src/platform/embedded-postgres/cluster'
import { adminUrlOf } from '../../server/testing/databases'
import { eventually } from '../../server/testing/eventually'

/** Where the embedded PostgreSQL of a data directory lives. */
async function homeOf(dataDir: string): Promise<string> {
  const elsewhere = await readFile(join(dataDir, 'postgres.location'), 'utf8').catch(() => '')
  return elsewhere.trim() || join(dataDir, 'postgres')
}

/** postmaster.pid: the process in its first line, the directory of the socket in its fifth. */
async function postmaster(dataDir: string) {
  const home = await homeOf(dataDir)
  const lines = (await readFile(join(home, 'cluster/postmaster.pid'), 'utf8')).split('\n')
  const password = (await readFile(join(home, 'password'), 'utf8')).trim()
  const pid = Number(lines[0])
  // A file that is just being written. Signals to 0 would go to ourselves.
  if (!(pid > 1)) throw new Error('the embedded PostgreSQL has no process yet')
  return { pid, socketDirectory: lines[4] ?? '', password }
}

/** The process of the embedded PostgreSQL. */
export const postgresPid = async (dataDir: string) => (await postmaster(dataDir)).pid

async function urlOf(dataDir: string, user: string): Promise<string> {
  const { socketDirectory, password } = await postmaster(dataDir)
  const host = encodeURIComponent(socketDirectory)
  return `postgres://${user}:${encodeURIComponent(password)}@localhost/tollgate?host=${host}`
}

/**
 * A `DATABASE_URL` of the PostgreSQL of a running gateway. It listens on a socket only, and only to its own
 * user and root; the test runs as the one who started it.
 */
export async function databaseUrl(dataDir: string): Promise<string> {
  const shared = await sharedSettings(dataDir)
  return shared?.['DATABASE_URL'] ?? urlOf(dataDir, user)
}

/** SQL on the PostgreSQL of a running gateway, as the role that the gateway has. */
export const openDatabase = async (dataDir: string) => open(await databaseUrl(dataDir))

/** The same as its superuser. */
export async function openAdmin(dataDir: string): Promise<SQL & AsyncDisposable> {
  const shared = (await sharedSettings(dataDir))?.['DATABASE_URL']
  return open(shared ? await adminUrlOf(shared) : await urlOf(dataDir, superuser))
}

/** SQL on any PostgreSQL, over TCP or over the socket in the directory `host`. */
function open(address: string): SQL & AsyncDisposable {
  const url = new URL(address)
  const host = url.searchParams.get('host')
  const sql = new SQL({
    adapter: 'postgres',
    ...(host ? { path: join(host, '.s.PGSQL.5432') } : { hostname: url.hostname, port: url.port }),
    username: url.username,
    database: url.pathname.slice(1),
    password: decodeURIComponent(url.password),
    max: 1,
  })
  return Object.assign(sql, { [Symbol.asyncDispose]: () => sql.close() })
}

/** Resolves once a statement of any connection to this database waits for a lock. */
export const untilBlocked = (sql: SQL) =>
  eventually(async () => {
    const [row] = await sql`
      select count(*)::int as waiting from pg_locks where not granted
        and pid in (select pid from pg_stat_activity where datname = current_database())`
    return row.waiting > 0
  })

/** Every row of every table, as text; bytes in hexadecimal. */
export async function dump(dataDir: string): Promise<string> {
  await using sql = await openDatabase(dataDir)
  const tables: { name: string }[] = await sql`
    select format('%I.%I', schemaname, tablename) as name from pg_tables
    where schemaname not in ('pg_catalog', 'information_schema')`
  const parts = await Promise.all(
    tables.map(({ name }) => sql.unsafe(`select it::text as text from ${name} as it`)),
  )
  return parts.flatMap((rows) => [...rows].map(({ text }: { text: string }) => text)).join('\n')
}

/** Two gateways that share the database of the first. */
export interface TwoNodes extends AsyncDisposable {
  a: Gateway
  b: Gateway
}

/**
 * Starts node A with a database, then node B with that one as `DATABASE_URL`, the same `ENCRYPTION_KEY` and
 * the same `ADMIN_KEY`, in a data directory of its own. `ofB` is what only B has.
 */
export async function startTwoNodes({
  environment = {},
  ofB = {},
  ...options
}: Pick<RigOptions, 'environment' | 'database'> & {
  ofB?: Record<string, string>
} = {}): Promise<TwoNodes> {
  const shared = {
    ...environment,
    ADMIN_KEY: `admin-of-two-nodes-${crypto.randomUUID()}`,
    ENCRYPTION_KEY: Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64'),
  }
  const a = await startGateway({ environment: shared, ...options })
  const url = await databaseUrl(a.dataDir)
  const b = await startGateway({ environment: { ...shared, ...ofB, DATABASE_URL: url } })
  return {
    a,
    b,
    async [Symbol.asyncDispose]() {
      await b[Symbol.asyncDispose]()
      await a[Symbol.asyncDispose]()
    },
  }
}

/** Stops every process of a PostgreSQL where it stands, until disposed of. */
export async function freeze(postmasterPid: number): Promise<Disposable> {
  // The postmaster first: running, it would replace what stands still, and the ids of its ended children could be reused.
  await stopProcess(postmasterPid)
  const children = readFileSync(`/proc/${postmasterPid}/task/${postmasterPid}/children`, 'utf8')
  const childPids = children.trim().split(/\s+/).map(Number)
  // And last when they go on, for the same reason.
  const pids = [...childPids, postmasterPid].filter((pid) => pid > 1)
  await Promise.all(pids.map(stopProcess))
  return { [Symbol.dispose]: () => pids.forEach((pid) => process.kill(pid, 'SIGCONT')) }
}

/** Stops a process, and waits until it is stopped: a signal may reach it a moment later. */
async function stopProcess(pid: number): Promise<void> {
  process.kill(pid, 'SIGSTOP')
  await eventually(() => /\) [TtZX] /.test(readFileSync(`/proc/${pid}/stat`, 'utf8')))
}
