/**
 * Makes databases for tests until its standard input ends: `npm test` starts one of these for all files, a file that
 * runs by itself its own. The first line of its output is the path of the socket on which `databases.ts` requests
 * them. `TEST_DATABASE_URL` names a PostgreSQL to make them in, with its superuser or a role that may create
 * databases; otherwise it starts one.
 */
import { mkdtemp, realpath, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client } from 'pg'
import { getServerAccount } from '../src/platform/embedded-postgres/account'
import { openHome } from '../src/platform/embedded-postgres/home'
import { Database, type DatabaseAddress } from '../src/platform/db/database'
import { migrate } from '../src/platform/db/migrate'
import { copy, startCluster, template, templateHome } from './cluster'

/** Databases made ahead, so that a test does not wait for its own. */
const spares = 2

interface Server {
  /** The URL of the superuser. */
  admin: string
  /** Returns the URL of the role that owns it, which is no superuser. */
  make: (name: string) => Promise<string>
  drop: (name: string) => Promise<void>
}

await using stack = new AsyncDisposableStack()
let server: Promise<Server> | undefined
let created = 0
const ready: Promise<string>[] = []

async function openServer(): Promise<Server> {
  const configured = process.env['TEST_DATABASE_URL']
  if (configured) return serverOfOne(new URL(configured))
  const { address, admin } = stack.use(await startCluster())
  const url = new URL(`postgres://${admin.user}@localhost/template1`)
  Object.assign(url, { password: admin.password })
  url.searchParams.set('host', admin.host)
  const query = await connect(url)
  const owner = { name: address.user, password: address.password }
  return serverAt({ url, query, owner, from: template })
}

/** A connection takes one statement at a time. */
type Query = (text: string) => Promise<{ rows: unknown[] }>

async function connect(url: URL): Promise<Query> {
  const admin = new Client({ connectionString: url.href })
  await admin.connect()
  stack.defer(() => admin.end())
  let last: Promise<unknown> = Promise.resolve()
  return (text) => {
    const done = last.then(() => admin.query(text))
    last = done.catch(() => undefined)
    return done
  }
}

/** A superuser makes an ordinary role for this run; any other role owns what it makes. */
async function serverOfOne(url: URL): Promise<Server> {
  const query = await connect(url)
  const { rows } = await query('select from pg_roles where rolname = current_user and rolsuper')
  const owner = { name: url.username, password: decodeURIComponent(url.password) }
  if (rows.length > 0) {
    Object.assign(owner, { name: `tollgate_test_${process.pid}`, password: crypto.randomUUID() })
    await query(`create role ${owner.name} login password '${owner.password}'`)
  }
  return serverAt({ url, query, owner, from: undefined })
}

interface Origin {
  /** Of the superuser. */
  url: URL
  query: Query
  owner: { name: string; password: string }
  /** The migrated database to copy; undefined if there is none. */
  from: string | undefined
}

function serverAt({ url, query, owner, from }: Origin): Server {
  const ownUrl = Object.assign(new URL(url), { username: owner.name, password: owner.password })
  const urlOf = (name: string) => Object.assign(new URL(ownUrl), { pathname: `/${name}` }).href
  const origin = from ? ` template ${from} strategy wal_log` : ''
  return {
    admin: url.href,
    async make(name) {
      await query(`create database ${name} owner "${owner.name}"${origin}`)
      if (!from) await migrated({ connectionString: urlOf(name) })
      return urlOf(name)
    },
    drop: async (name) => void (await query(`drop database if exists ${name} with (force)`)),
  }
}

async function migrated(address: DatabaseAddress): Promise<void> {
  await using database = new Database(address, { poolSize: 2, onError: () => undefined })
  await migrate(database.query)
}

/** Makes the home of an embedded PostgreSQL, in a data directory that has none. */
async function putHome(dataDir: string): Promise<string> {
  const home = await openHome(await realpath(dataDir), await getServerAccount(), () => undefined)
  const template = await templateHome()
  for (const name of ['cluster', 'password']) await copy(join(template, name), home.path)
  return home.path
}

async function nextUrl(): Promise<string> {
  const { make } = await (server ??= openServer())
  while (ready.length <= spares) {
    const one = make(`test_${process.pid}_${(created += 1)}`)
    // The request that takes this database handles the rejection.
    one.catch(() => undefined)
    ready.push(one)
  }
  return (await ready.shift()) ?? ''
}

const directory = await mkdtemp(join(tmpdir(), 'tollgate-test-'))
stack.defer(() => rm(directory, { recursive: true, force: true }))
const socket = join(directory, 'databases')
/**
 * The first database of a version takes as long as its migrations; `databases.ts` has the timeout. Bun applies it to
 * Unix sockets too, though its types say otherwise; `timeout` of a request without a body does nothing there.
 */
const unlimited: object = { idleTimeout: 0 }
const listener = Bun.serve({
  unix: socket,
  ...unlimited,
  async fetch(request) {
    try {
      const name = await request.text()
      if (request.method === 'POST') return new Response(await nextUrl())
      if (request.method === 'GET') return new Response((await (server ??= openServer())).admin)
      if (request.method === 'PUT') return new Response(await putHome(name))
      await (await server)?.drop(name)
      return new Response()
    } catch (thrown) {
      return new Response(String(thrown), { status: 500 })
    }
  },
})
stack.defer(() => listener.stop(true))
// A terminal sends signals to all processes of a run; this one ends when the others have.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.on(signal, () => undefined)
console.log(socket)
for await (const _ of process.stdin);
