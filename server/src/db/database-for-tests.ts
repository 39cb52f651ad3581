import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Database, type DatabaseAddress } from './database'
import { EmbeddedPostgres } from './embedded/embedded-postgres'
import { migrate } from './migrate'

/**
 * A migrated database of its own for the tests of one file: of the server that `TEST_DATABASE_URL`
 * names, else of an embedded one. `stack` removes it.
 */
export async function openTestDatabase(stack: AsyncDisposableStack): Promise<Database> {
  return (await openTestDatabases(stack)).database
}

/** The same, and a way to open it again with a pool of one connection that gives up soon. */
export async function openTestDatabases(stack: AsyncDisposableStack) {
  const address = await serverFor(stack)
  const name = `test_${process.pid}_${Date.now()}`
  const host = openDatabase(address, stack)
  const admin = host.client()
  await admin.connect()
  await admin.query(`create database ${name}`)
  await admin.end()
  const url = process.env['TEST_DATABASE_URL']
  const own = url
    ? { connectionString: Object.assign(new URL(url), { pathname: `/${name}` }).href }
    : { ...address, database: name }
  const database = openDatabase(own, stack)
  await migrate(database.query)
  const again = () => openDatabase(own, stack, { poolSize: 1, statementMs: 100 })
  return { database, again }
}

function openDatabase(
  address: DatabaseAddress,
  stack: AsyncDisposableStack,
  options: { poolSize: number; statementMs?: number } = { poolSize: 10 },
): Database {
  // What breaks shows in the statements of the test.
  return stack.use(new Database(address, { ...options, onError: () => undefined }))
}

async function serverFor(stack: AsyncDisposableStack): Promise<DatabaseAddress> {
  const url = process.env['TEST_DATABASE_URL']
  if (url) return { connectionString: url }
  const path = await mkdtemp(join(tmpdir(), 'tollgate-test-'))
  await chmod(path, 0o711)
  stack.defer(() => rm(path, { recursive: true, force: true }))
  const server = await EmbeddedPostgres.start(path, {
    log: () => undefined,
    onExit: () => undefined,
  })
  stack.use(server)
  return server.connection
}
