import { join } from 'node:path'

/** The request of the greeting, run as somebody would who pastes it. */
export function paste(greeting: string, environment: Record<string, string> = {}) {
  const [, command = ''] = /(\n {2}curl [\s\S]*?\}')\n/.exec(greeting) ?? []
  const { exitCode, stdout } = Bun.spawnSync(['sh', '-c', command.replace('curl', 'curl -s -f')], {
    cwd: join(import.meta.dir, '../..'),
    env: { PATH: process.env['PATH'] ?? '', ...environment },
  })
  return { exitCode, answer: stdout.toString() }
}
