/**
 * Makes databases for tests until its standard input ends: `npm test` starts one of these for all files, a file that
 * runs by itself its own. The first line of its output is the path of the socket on which `databases.ts` requests
 * them. `TEST_DATABASE_URL` names a PostgreSQL to make them in, otherwise it starts one.
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
  /** Returns its URL. */
  make: (name: string) => Promise<string>
  drop: (name: string) => Promise<void>
}

await using stack = new AsyncDisposableStack()
let server: Promise<Server> | undefined
let created = 0
const ready: Promise<string>[] = []

async function openServer(): Promise<Server> {
  const configured = process.env['TEST_DATABASE_URL']
  if (configured) return serverAt(new URL(configured), undefined)
  const { address } = stack.use(await startCluster())
  const { user, password, host } = address
  const url = new URL(`postgres://${user}:${encodeURIComponent(password)}@localhost/postgres`)
  url.searchParams.set('host', host)
  return serverAt(url, template)
}

async function serverAt(url: URL, from: string | undefined): Promise<Server> {
  const urlOf = (name: string) => Object.assign(new URL(url), { pathname: `/${name}` }).href
  const admin = new Client({ connectionString: from ? urlOf('template1') : url.href })
  await admin.connect()
  stack.defer(() => admin.end())
  let last: Promise<unknown> = Promise.resolve()
  // A connection takes one statement at a time.
  const query = (text: string) => {
    const done = last.then(() => admin.query(text))
    last = done.catch(() => undefined)
    return done
  }
  return {
    async make(name) {
      await query(`create database ${name}${from ? ` template ${from} strategy wal_log` : ''}`)
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
  server ??= openServer()
  const { make } = await server
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
