import { expect, test } from 'bun:test'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { endOf, root } from '../../harness/run-command'

// A file system of its own, of a size of our own, in a mount namespace that ends with the test.
const isRoot = process.getuid?.() === 0
const unshare = ['unshare', ...(isRoot ? [] : ['--map-current-user', '--keep-caps']), '--mount']
const mayMount =
  process.platform === 'linux' &&
  Bun.which('unshare') !== null &&
  Bun.spawnSync([...unshare, 'sh', '-c', 'mount -t tmpfs tmpfs /mnt']).exitCode === 0

if (!mayMount) {
  console.warn('NOT RUN: M9 on full disks. It wants Linux, `unshare`, and leave to mount.')
}

/** Runs a script in which `disk` is a file system, and `start` starts the server on it for two minutes at most. */
async function onDisk(options: string, script: string) {
  const disk = await mkdtemp(join(tmpdir(), 'tollgate-disk-'))
  const start = `timeout -k 5 120 ${process.execPath} server/src/main.ts`
  const lines = [
    `disk=${disk}`,
    `start() { DATA_DIR=$disk/data PORT=0 WORKERS=1 LOCAL_DISCOVERY=false "$@" ${start}; }`,
    `mount -t tmpfs -o ${options} tmpfs $disk && chmod 755 $disk`,
    script,
  ]
  try {
    return await endOf(
      Bun.spawn([...unshare, 'sh', '-c', lines.join('\n')], {
        cwd: root,
        env: { PATH: process.env['PATH'] ?? '' },
        stdin: 'ignore',
        stdout: 'pipe',
        stderr: 'pipe',
      }),
    )
  } finally {
    for (const path of [disk, `${disk}.out`]) await rm(path, { recursive: true, force: true })
  }
}

/** One line that says what to do, and no stack. */
function expectOneLine({ err, code }: { err: string; code: number }) {
  expect(err.trimEnd().split('\n')).toEqual([expect.stringMatching(/^tollgate: /)])
  expect(err).not.toMatch(/\n\s+at /)
  expect(code).toBe(1)
}

test.skipIf(!mayMount).each([
  ['with room for nothing', 'size=4k', 'start env'],
  ['with room for keys, but no database', 'size=400k', 'start env'],
  ['with room for programs, but no database', 'size=60m', 'start env'],
])(
  'M9: a first start on a disk %s ends in one line',
  async (_name, options, script) => {
    expectOneLine(await onDisk(options, script))
  },
  90_000,
)

// The shell opens the output in the background: created first, it is there when `grep` reads it.
const filled = `
  : >$disk.out
  start env >>$disk.out 2>&1 & pid=$!
  for i in $(seq 1200); do grep -q 'is ready at' $disk.out && break; sleep 0.1; done
  grep -q 'is ready at' $disk.out || { echo 'The first start is not ready:' >&2; cat $disk.out >&2; exit 99; }
  kill -TERM $(cat $disk/data/tollgate.pid); wait $pid
`

test.skipIf(!mayMount)(
  'M9: a later start on a disk that has filled up ends in one line',
  async () => {
    const ended = await onDisk(
      'size=400m',
      `${filled} dd if=/dev/zero of=$disk/filler bs=1M 2>/dev/null; dd if=/dev/zero of=$disk/rest bs=1 2>/dev/null
    start env`,
    )
    expectOneLine(ended)
  },
  180_000,
)

test.skipIf(!mayMount)(
  'M9: a start on a disk that is read-only now ends in one line',
  async () => {
    const ended = await onDisk('size=400m', `${filled} mount -o remount,ro $disk; start env`)
    expectOneLine(ended)
    expect(ended.err).toContain('/data')
  },
  180_000,
)

test('M9: a directory that is not to be written ends in one line', async () => {
  const { err, code } = await endOf(
    Bun.spawn([process.execPath, 'server/src/main.ts'], {
      cwd: root,
      env: { PATH: process.env['PATH'] ?? '', DATA_DIR: '/proc/data', PORT: '0', WORKERS: '1' },
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    }),
  )
  expectOneLine({ err, code })
})
