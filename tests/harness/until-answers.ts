import { SQL } from 'bun'
import { eventually, waitTimeoutMs, WaitTimeoutError } from '../../server/testing/eventually'

/**
 * Waits until a server that was just started answers: until `ask` resolves. Ends its process and rejects where that does
 * not happen, or has ended before.
 */
export async function untilAnswers(
  child: Bun.Subprocess,
  name: string,
  ask: () => Promise<unknown>,
): Promise<void> {
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null
  const isAnswering = async () => {
    if (hasEnded()) throw new Error(`${name} did not start`)
    return ask().then(
      () => true,
      () => false,
    )
  }
  try {
    await eventually(isAnswering)
  } catch (thrown) {
    child.kill('SIGKILL')
    throw thrown instanceof WaitTimeoutError ? new WaitTimeoutError(name, waitTimeoutMs) : thrown
  }
}

/** Asks a database one query, on a connection of its own. */
export async function askDatabase(url: string): Promise<void> {
  const sql = new SQL(url, { max: 1 })
  try {
    await sql`select 1`
  } finally {
    await sql.close().catch(() => undefined)
  }
}
