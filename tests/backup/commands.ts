import { join } from 'node:path'

const root = join(import.meta.dir, '../..')

/** A command of the server's, by the name of its file, with nothing but these settings. */
export async function runCommand(
  name: string,
  environment: Record<string, string>,
  ...args: string[]
) {
  const child = Bun.spawn([process.execPath, `server/src/${name}.ts`, ...args], {
    cwd: root,
    env: { PATH: process.env['PATH'] ?? '', ...environment },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return { out, err, code: await child.exited }
}
