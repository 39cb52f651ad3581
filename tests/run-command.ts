import { join } from 'node:path'

export const root = join(import.meta.dir, '..')

/** What a program said, and how it ended. */
export interface Ended {
  out: string
  err: string
  code: number
}

/** Reads both outputs of a program to their ends. */
export async function endOf(
  child: Bun.Subprocess<'ignore' | Blob, 'pipe', 'pipe'>,
): Promise<Ended> {
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return { out, err, code: await child.exited }
}

/** A command of the server's, by the name of its file, with nothing but these settings. */
export const runCommand = (
  name: string,
  environment: Record<string, string>,
  ...args: string[]
): Promise<Ended> =>
  endOf(
    Bun.spawn([process.execPath, `server/src/${name}.ts`, ...args], {
      cwd: root,
      env: { PATH: process.env['PATH'] ?? '', ...environment },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    }),
  )
