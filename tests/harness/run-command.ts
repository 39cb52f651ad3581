import { join } from 'node:path'
import { sharedSettings } from './shared-database'

export const root = join(import.meta.dir, '../..')

/** What a program said, and how it ended. */
export interface CommandResult {
  out: string
  err: string
  code: number
}

/** Reads both outputs of a program to their ends. */
export async function endOf(
  child: Bun.Subprocess<'ignore' | Blob, 'pipe', 'pipe'>,
): Promise<CommandResult> {
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return { out, err, code: await child.exited }
}

/**
 * A command of the server's, by the name of its file, with nothing but these settings, and the database that
 * a gateway of the tests has whose `DATA_DIR` they name.
 */
export async function runCommand(
  name: string,
  environment: Record<string, string>,
  ...args: string[]
): Promise<CommandResult> {
  const { DATA_DIR: dataDir, DATABASE_URL: url } = environment
  const shared = dataDir && !url ? await sharedSettings(dataDir) : {}
  const child = Bun.spawn([process.execPath, `server/src/commands/${name}.ts`, ...args], {
    cwd: root,
    env: { PATH: process.env['PATH'] ?? '', ...shared, ...environment },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  return endOf(child)
}
