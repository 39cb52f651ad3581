import { expect, test } from 'bun:test'
import { closeSync, constants, openSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { root } from '../../harness/run-command'

const launcher = 'node bin/tollgate.mjs'

/** Runs a command into a pipe whose reader has gone. */
async function runUnread(command: string) {
  await using stack = new AsyncDisposableStack()
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-pipe-'))
  stack.defer(() => rm(folder, { recursive: true }))
  const path = join(folder, 'pipe')
  Bun.spawnSync(['mkfifo', path])
  const reader = openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
  const writer = openSync(path, constants.O_WRONLY)
  closeSync(reader)
  stack.defer(() => closeSync(writer))
  const { stderr, exitCode } = Bun.spawnSync(['bash', '-c', `${launcher} ${command}`], {
    cwd: root,
    env: { PATH: process.env['PATH'], TOLLGATE_BUN: process.execPath },
    stdout: writer,
    stderr: 'pipe',
  })
  return { err: stderr.toString(), exitCode }
}

test.each(['sbom', '--help', 'audit --help', 'users --help', 'connect --help', 'doctor --json'])(
  'N6: %s through a reader that has enough ends without a stack',
  async (command) => {
    const { err, exitCode } = await runUnread(command)
    expect(err).not.toMatch(/EPIPE|\n\s+at /)
    expect(exitCode).toBeOneOf([0, 1, 2])
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
