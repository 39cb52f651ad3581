import { join } from 'node:path'

const root = join(import.meta.dir, '../..')

interface Given {
  environment?: Record<string, string>
  input?: string
}

/** `tollgate <args>` as somebody types it, by way of the launcher. */
export async function tollgate(args: readonly string[], { environment, input }: Given = {}) {
  const child = Bun.spawn(['node', 'bin/tollgate.mjs', ...args], {
    cwd: root,
    env: {
      PATH: process.env['PATH'] ?? '',
      HOME: process.env['HOME'] ?? '',
      TOLLGATE_BUN: process.execPath,
      ...environment,
    },
    stdin: new Blob([input ?? '']),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  return { out, err, code: await child.exited }
}
