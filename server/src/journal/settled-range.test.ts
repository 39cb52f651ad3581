import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { nodeFileSystem } from './file-system'
import { Journal } from './journal'
import { generationOf, positionOf, type JournalRow } from './segment'
import { readSettledRange } from './settled-range'

let directory: string

beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'tollgate-test-'))
})
afterEach(() => rmSync(directory, { recursive: true }))

const openJournal = () => Journal.open({ directory, sync: 'always' })

/** Bodies of some 50 kB: a segment of the journal has some 40 of them. */
const largeBody = (index: number) => `${index} ${'ü☃'.repeat(10_000)}`

async function settleMany(journal: Journal, from: number, to: number): Promise<void> {
  for (let index = from; index < to; index++) {
    await journal.begin(`att_${index}`, 'open')
    await journal.settle(`att_${index}`, largeBody(index))
  }
}

const plain = (rows: readonly JournalRow[]) =>
  rows.map(({ seq, attemptId, body }) => ({ seq, attemptId, body }))

const seqOf = (row: JournalRow | undefined) => row?.seq ?? Number.NaN

describe('settled rows that another process reads', () => {
  test('match the journal’s rows, over several segments, for any part of them', async () => {
    await using journal = await openJournal()
    await settleMany(journal, 0, 120)
    const all = plain(journal.settled(1000))
    const generations = new Set(all.map(({ seq }) => generationOf(seq)))
    expect(generations.size).toBeGreaterThan(2)
    for (const [from, to] of [
      [0, 120],
      [0, 1],
      [1, 2],
      [30, 90],
      [119, 120],
    ] as const) {
      const before = from === 0 ? 0 : seqOf(all[from - 1])
      const [first, last] = [seqOf(all[from]), seqOf(all[to - 1])]
      for (const start of [before, positionOf(generationOf(first), 0), 0]) {
        const range = { start, first, last, count: to - from }
        expect(plain(readSettledRange(directory, range))).toEqual(all.slice(from, to))
      }
    }
  })

  test('are read while the journal appends to the same segment', async () => {
    await using journal = await openJournal()
    await settleMany(journal, 0, 3)
    const [first, second, third] = journal.settled(3)
    await settleMany(journal, 3, 6)
    const range = { start: seqOf(first), first: seqOf(second), last: seqOf(third), count: 2 }
    expect(plain(readSettledRange(directory, range))).toEqual(
      [second, third].flatMap((row) => (row ? plain([row]) : [])),
    )
  })

  test('begin in a later segment if the earlier ones were released', async () => {
    await using journal = await openJournal()
    await settleMany(journal, 0, 60)
    const booked = journal.settled(50).map(({ seq }) => seq)
    await journal.drop(booked)
    await settleMany(journal, 60, 120)
    const left = plain(journal.settled(1000))
    const start = booked.at(-1) ?? 0
    const [first, last] = [seqOf(left[0]), seqOf(left.at(-1))]
    const range = { start, first, last, count: left.length }
    expect(plain(readSettledRange(directory, range))).toEqual(left)
  })

  test('from an earlier use of a reused file are left out', async () => {
    await using journal = await openJournal()
    for (let round = 0; round < 4; round++) {
      await settleMany(journal, round * 60, round * 60 + 60)
      await journal.drop(journal.settled(1000).map(({ seq }) => seq))
    }
    await settleMany(journal, 240, 243)
    const left = plain(journal.settled(1000))
    expect(left).toHaveLength(3)
    const range = { start: 0, first: seqOf(left[0]), last: seqOf(left[2]), count: 3 }
    expect(plain(readSettledRange(directory, range))).toEqual(left)
  })

  test('beyond the readable ones are an error, which names the readable number', async () => {
    await using journal = await openJournal()
    await settleMany(journal, 0, 3)
    const [first, , last] = journal.settled(3)
    const range = { start: 0, first: seqOf(first), last: seqOf(last), count: 4 }
    expect(() => readSettledRange(directory, range)).toThrow(
      `3 of 4 settled rows of the journal in ${directory} can be read`,
    )
  })

  test('occupy no disk space beyond their range', async () => {
    await using journal = await openJournal()
    await settleMany(journal, 0, 30)
    const all = journal.settled(30)
    const lengths: number[] = []
    const [start, first, last] = [seqOf(all[27]), seqOf(all[28]), seqOf(all[29])]
    const range = { start, first, last, count: 2 }
    readSettledRange(directory, range, {
      ...nodeFileSystem,
      read(fd, into, offset) {
        lengths.push(into.length)
        return nodeFileSystem.read(fd, into, offset)
      },
    })
    expect(lengths).toEqual([last - start])
  })
})
