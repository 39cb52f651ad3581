import { join } from 'node:path'

/** Runs the request of the greeting, as an operator who pastes it. */
export function paste(greeting: string, environment: Record<string, string> = {}) {
  const [, command = ''] = /(\n {2}curl [\s\S]*?\}')\n/.exec(greeting) ?? []
  const { exitCode, stdout } = Bun.spawnSync(['sh', '-c', command.replace('curl', 'curl -s -f')], {
    cwd: join(import.meta.dir, '../../..'),
    env: { PATH: process.env['PATH'] ?? '', ...environment },
  })
  return { exitCode, answer: stdout.toString() }
}
