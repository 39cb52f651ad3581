import { expect, test } from 'bun:test'
import { root } from '../../harness/run-command'

const launcher = 'node bin/tollgate.mjs'

/** What a shell tells of a command whose reader ends at once. */
function unread(command: string) {
  const script = `{ ${command}; echo "code $?" >&2; } | true`
  const { stderr } = Bun.spawnSync(['bash', '-c', script], {
    cwd: root,
    env: { PATH: process.env['PATH'], TOLLGATE_BUN: process.execPath },
  })
  return stderr.toString()
}

test.each(['sbom', '--help', 'audit --help', 'users --help', 'connect --help', 'doctor --json'])(
  'N6: %s through a reader that has enough ends without a stack',
  (command) => {
    // The reader has gone before the first byte.
    const output = unread(`sleep 0.2; ${launcher} ${command}`)
    expect(output).not.toMatch(/EPIPE|\n\s+at /)
    expect(output).toMatch(/code [012]\n$/)
  },
)
