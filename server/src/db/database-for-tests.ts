import { dropDatabase, newDatabase } from '../../testing/databases'
import { Database } from './database'

/** A migrated database of its own for the tests of one file; `stack` removes it. */
export async function openTestDatabase(stack: AsyncDisposableStack): Promise<Database> {
  return (await openTestDatabases(stack)).database
}

/** The same, and a way to open it again with a pool of one connection that gives up soon. */
export async function openTestDatabases(stack: AsyncDisposableStack) {
  const url = await newDatabase()
  stack.defer(() => dropDatabase(url))
  const open = (options: { poolSize: number; statementMs?: number }) =>
    // What breaks shows in the statements of the test.
    stack.use(new Database({ connectionString: url }, { ...options, onError: () => undefined }))
  return {
    database: open({ poolSize: 10 }),
    again: () => open({ poolSize: 1, statementMs: 100 }),
  }
}
