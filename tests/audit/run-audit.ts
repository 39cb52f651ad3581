import { join } from 'node:path'

const root = join(import.meta.dir, '../..')

/** `tollgate audit` with these settings and arguments. */
export async function runAudit(environment: Record<string, string>, ...args: string[]) {
  const child = Bun.spawn([process.execPath, 'server/src/audit.ts', ...args], {
    cwd: root,
    env: { PATH: process.env['PATH'] ?? '', ...environment },
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return { out, err, code: await child.exited }
}
