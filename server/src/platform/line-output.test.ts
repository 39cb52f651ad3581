import { afterEach, expect, test } from 'bun:test'
import { closeSync, constants, openSync, readSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LineOutput } from './line-output'
import { eventually } from '../../testing/eventually'

const cleanups: (() => unknown)[] = []
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

async function newDirectory(): Promise<string> {
  const path = await mkdtemp(join(tmpdir(), 'tollgate-output-'))
  cleanups.push(() => rm(path, { recursive: true, force: true }))
  return path
}

/** A named pipe with the writing end of it, and a function that opens a reading end. */
async function newPipe({ blocks }: { blocks: boolean }) {
  const path = join(await newDirectory(), 'pipe')
  Bun.spawnSync(['mkfifo', path])
  const openReader = () => openSync(path, constants.O_RDWR | constants.O_NONBLOCK)
  const reader = openReader()
  const writer = openSync(path, constants.O_WRONLY | (blocks ? 0 : constants.O_NONBLOCK))
  cleanups.push(() => closeSync(writer))
  return { writer, reader, openReader }
}

/** Reads what a pipe holds, at most so many bytes; nothing of an empty one. */
function readSome(fd: number, maxBytes = 256 * 1024): string {
  const bytes = Buffer.alloc(maxBytes)
  try {
    return bytes.subarray(0, readSync(fd, bytes)).toString()
  } catch {
    return ''
  }
}

const lines = (count: number) =>
  Array.from({ length: count }, (_, nth) => `${nth} ${'x'.repeat(90)}\n`)

test('lines are written in order, and none is lost', async () => {
  const path = join(await newDirectory(), 'file')
  const fd = openSync(path, 'a')
  cleanups.push(() => closeSync(fd))
  const output = new LineOutput(fd)
  const all = lines(1000)
  for (const line of all) output.write(line)
  await output.end()
  expect(await Bun.file(path).text()).toBe(all.join(''))
  expect(output.droppedLines).toBe(0)
})

test.skipIf(process.platform !== 'linux')(
  'finding M20: on a full disk lines are dropped and counted, and the end comes',
  async () => {
    const fd = openSync('/dev/full', 'w')
    cleanups.push(() => closeSync(fd))
    const output = new LineOutput(fd)
    for (const line of lines(1000)) output.write(line)
    await eventually(() => output.droppedLines > 0)
    await output.end()
    expect(output.droppedLines).toBe(1000)
  },
)

test('finding N10: behind a closed pipe lines are dropped and counted, and the end comes', async () => {
  const { writer, reader } = await newPipe({ blocks: true })
  closeSync(reader)
  const output = new LineOutput(writer)
  for (const line of lines(1000)) output.write(line)
  await output.end()
  expect(output.droppedLines).toBe(1000)
})

test('finding M20: an unread pipe delays nothing, and lines that do not fit are counted', async () => {
  const { writer, reader } = await newPipe({ blocks: true })
  const output = new LineOutput(writer)
  for (const line of lines(10_000)) output.write(line)
  expect(output.droppedLines).toBeGreaterThan(0)
  await output.end()
  // Frees the thread that writes; what waits behind it is tried too, before another file has the number of this one.
  closeSync(reader)
  await output.end()
})

test('finding M20: a line that was cut is ended before the next one', async () => {
  const { writer, reader, openReader } = await newPipe({ blocks: false })
  const output = new LineOutput(writer)
  // More than the pipe holds: 64 KB end within a line. A batch of its own, as nothing is written meanwhile.
  output.write(lines(2000).join(''))
  // A pipe that is full stays so after one byte, until its reader goes.
  await eventually(() => readSome(reader, 1) !== '')
  closeSync(reader)
  await eventually(() => output.droppedLines > 0)
  const next = openReader()
  cleanups.push(() => closeSync(next))
  // The pipe keeps what it holds while it has a writer.
  expect(readSome(next).endsWith('\n')).toBe(false)
  output.write('the next line\n')
  output.flush()
  await output.end()
  expect(readSome(next)).toBe('\nthe next line\n')
})
