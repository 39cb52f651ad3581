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

test
  .skipIf(process.platform !== 'linux')
  .each(['sbom', '--help', 'audit --help', 'users --help', 'connect --help'])(
  'finding M20: %s onto a full disk ends with one line and a code',
  (command) => {
    const { stderr, exitCode } = Bun.spawnSync(
      ['bash', '-c', `${launcher} ${command} >/dev/full`],
      {
        cwd: root,
        env: { PATH: process.env['PATH'], TOLLGATE_BUN: process.execPath },
      },
    )
    expect(stderr.toString()).toMatch(/^tollgate: The output could not be written: .*ENOSPC.*\n$/)
    expect(exitCode).toBe(1)
  },
)
