import { dropDatabase, newDatabase } from '../databases'
import { Database } from '../../src/platform/db/database'

/** Opens a migrated database of its own for the tests of one file; `stack` removes it. */
export async function openTestDatabase(stack: AsyncDisposableStack): Promise<Database> {
  return (await openTestDatabases(stack)).database
}

/** Opens a test database, and a function that reopens it with a pool of one connection and short timeouts. */
export async function openTestDatabases(stack: AsyncDisposableStack) {
  const url = await newDatabase()
  stack.defer(() => dropDatabase(url))
  const open = (options: { poolSize: number; statementMs?: number }) =>
    // Failures show in the statements of the test.
    stack.use(new Database({ connectionString: url }, { ...options, onError: () => undefined }))
  return {
    // A machine that stands still for some seconds is no failure of a statement.
    database: open({ poolSize: 10, statementMs: 20_000 }),
    again: (statementMs = 100) => open({ poolSize: 1, statementMs }),
  }
}
