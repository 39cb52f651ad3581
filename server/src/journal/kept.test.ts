import { afterEach, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nodeFileSystem } from './file-system'
import { Journal } from './journal'
import { countUnbooked } from './replay'
import { filesOf, readSettled } from './segment'

const directories: string[] = []
afterEach(() => {
  for (const path of directories.splice(0)) rmSync(path, { recursive: true })
})

function newDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), 'tollgate-test-'))
  directories.push(path)
  return path
}

const hourMs = 3_600_000
/** Four make a segment full. */
const body = (number: number) => `${number} ${'x'.repeat(600_000)}`

/** Settles and books some rows, and closes. */
async function bookSome(directory: string, retentionMs: number, numbers: readonly number[]) {
  await using journal = await Journal.open({ directory, sync: 'always', retentionMs })
  for (const number of numbers) {
    await journal.settle(`att_${number}`, body(number))
    await journal.drop(journal.settled(10).map(({ seq }) => seq))
  }
}

const numbersIn = (directory: string) =>
  filesOf(directory)
    .flatMap((path) => [...readSettled(readFileSync(path))])
    .map((text) => Number(text.split(' ')[0]))
    .toSorted((a, b) => a - b)

const numbers = Array.from({ length: 20 }, (_, at) => at)

test('C12: with a retention, booked files stay readable, and no booked row reappears', async () => {
  const directory = newDirectory()
  await bookSome(directory, hourMs, numbers)
  expect([...new Set(numbersIn(directory))]).toEqual(numbers)
  expect(countUnbooked(directory).rows).toBe(0)
  await using journal = await Journal.open({ directory, sync: 'always', retentionMs: hourMs })
  expect([journal.size, journal.settled(10), journal.orphans()]).toEqual([0, [], []])
})

test('deletes files beyond the retention with the next segment, and at the next start', async () => {
  const directory = newDirectory()
  await bookSome(directory, hourMs, numbers)
  const kept = filesOf(directory).filter((path) => path.endsWith('.kept'))
  expect(kept.length).toBeGreaterThan(3)
  const longAgo = new Date(Date.now() - 2 * hourMs)
  for (const path of kept.slice(0, 2)) utimesSync(path, longAgo, longAgo)
  await bookSome(directory, hourMs, [])
  for (const path of kept.slice(0, 2)) expect(filesOf(directory)).not.toContain(path)
  expect(filesOf(directory)).toContain(kept[2] ?? '')
  await bookSome(directory, 0, [])
  expect(readdirSync(directory).filter((name) => name.endsWith('.kept'))).toEqual([])
})

test('keeps no booked files without a retention', async () => {
  const directory = newDirectory()
  await bookSome(directory, 0, numbers)
  expect(numbersIn(directory)).toEqual([])
})

const kept = (directory: string) =>
  readdirSync(directory).filter((name) => name.endsWith('.kept')).length

test('finding M21: the latest booked files stay, up to so many bytes; older ones become the next segments', async () => {
  const directory = newDirectory()
  // A segment is full with three of these.
  const recent = { ms: hourMs, bytes: 6_000_000 }
  await using journal = await Journal.open({ directory, sync: 'always', recent })
  for (const number of numbers) {
    await journal.settle(`att_${number}`, body(number))
    await journal.drop(journal.settled(10).map(({ seq }) => seq))
  }
  expect(kept(directory)).toBeGreaterThan(1)
  expect(kept(directory)).toBeLessThan(5)
  const found = new Set(numbersIn(directory))
  for (const number of numbers.slice(-9)) expect(found).toContain(number)
  // All that was written besides: spares of the released ones, and the segment in use.
  expect(readdirSync(directory).length - kept(directory)).toBeLessThan(4)
})

test('finding M21: booked files stay no longer than their time, counted from when they were booked', async () => {
  const directory = newDirectory()
  const clock = { nowMs: Date.now() }
  const recent = { ms: hourMs, bytes: 1_000_000_000 }
  await using journal = await Journal.open({
    directory,
    sync: 'always',
    recent,
    now: () => clock.nowMs,
  })
  const settle = (all: readonly number[]) =>
    Promise.all(all.map((number) => journal.settle(`att_${number}`, body(number))))
  const book = () => journal.drop(journal.settled(100).map(({ seq }) => seq))
  for (const number of numbers.slice(0, 9)) await settle([number])
  // The ledger was away for long.
  clock.nowMs += 2 * hourMs
  await book()
  await settle([9])
  expect(numbersIn(directory)).toEqual(numbers.slice(0, 10))
  clock.nowMs += 2 * hourMs
  for (const number of numbers.slice(10)) {
    await settle([number])
    await book()
  }
  expect(new Set(numbersIn(directory))).not.toContain(0)
  expect(new Set(numbersIn(directory))).toContain(12)
})

test('finding M21: a disk that is full loses kept files, before a request is rejected', async () => {
  const directory = newDirectory()
  const bytesThere = () => filesOf(directory).reduce((sum, path) => sum + statSync(path).size, 0)
  const fileSystem: typeof nodeFileSystem = {
    ...nodeFileSystem,
    write: (fd, bytes, offset) => {
      if (bytesThere() + bytes.length > 6_000_000) throw new Error('ENOSPC')
      return nodeFileSystem.write(fd, bytes, offset)
    },
  }
  const recent = { ms: hourMs, bytes: 1_000_000_000 }
  await using journal = await Journal.open({ directory, sync: 'always', recent, fileSystem })
  let highest = 0
  for (const number of numbers) {
    await journal.settle(`att_${number}`, body(number))
    await journal.drop(journal.settled(10).map(({ seq }) => seq))
    highest = Math.max(highest, kept(directory))
  }
  expect(highest).toBeGreaterThan(0)
  expect([journal.size, journal.failure]).toEqual([0, undefined])
})
