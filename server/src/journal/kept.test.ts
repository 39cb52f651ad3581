import { afterEach, expect, test } from 'bun:test'
import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
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
