import { afterEach, expect, test } from 'bun:test'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LostBookings } from './lost-bookings'
import { Journal } from '../journal/journal'
import { readSettledFiles } from '../journal/settled-files'
import type { EventKey } from '../ledger/look-up-events'

const directories: string[] = []
afterEach(() => {
  for (const path of directories.splice(0)) rmSync(path, { recursive: true })
})

const minuteMs = 60_000
const startedAt = '2026-01-01T00:00:00.000Z'
const recent = { ms: 10 * minuteMs, bytes: 64 * 1024 * 1024 }
/** Four make a segment full. */
const filling = 'x'.repeat(600_000)

const keyOf = (body: string): EventKey | undefined => {
  const [id = ''] = body.split(' ')
  return id.startsWith('att_') ? { id, startedAt, isOrphan: false } : undefined
}

/** A ledger that has each attempt once, and can go back; it counts how often each was new. */
class Ledger {
  attempts: string[] = []
  isAway = false
  lookedUp = 0

  book(bodies: readonly string[]): void {
    if (this.isAway) throw new Error('away')
    for (const body of bodies) {
      const { id } = keyOf(body) ?? { id: 'none' }
      if (!this.attempts.includes(id)) this.attempts.push(id)
    }
  }

  goBack(attempts: number): void {
    this.attempts = this.attempts.slice(0, -attempts)
  }

  lookUp(events: readonly EventKey[]) {
    if (this.isAway) return Promise.reject(new Error('away'))
    this.lookedUp += 1
    const ids = events.map(({ id }) => id)
    const knownIds = new Set(ids.filter((id) => this.attempts.includes(id)))
    return Promise.resolve({
      knownIds,
      missingIds: new Set(ids.filter((id) => !knownIds.has(id))),
    })
  }
}

/** One start of a node: its journal, and the check of its bookings. */
async function startNode(directory: string, ledger: Ledger, { isDoubtful = true } = {}) {
  const journal = await Journal.open({ directory, sync: 'always', recent })
  const reports: unknown[] = []
  let reads = 0
  const lost: LostBookings = new LostBookings(
    {
      lookUp: (events) => ledger.lookUp(events),
      journals: () => {
        reads += 1
        return [readSettledFiles(directory)]
      },
      keyOf,
      book: async (bodies) => {
        ledger.book(bodies)
        for (const body of bodies) note(body)
        await Promise.resolve()
      },
      now: () => Date.now(),
      onLoss: () => reports.push('lost'),
      onMended: (found) => reports.push(found),
      onForeign: (attempts) => reports.push({ foreign: attempts }),
      onError: (error) => reports.push(error),
    },
    { keptMs: recent.ms, isDoubtful },
  )
  const note = (body: string) => {
    const key = keyOf(body)
    if (key) lost.note(key)
  }
  return {
    journal,
    lost,
    reports,
    reads: () => reads,
    settle: (number: number, text = 'ok') =>
      journal.settle(`att_${number}`, `att_${number} ${text}`),
    /** Books all that waits, as the flusher does. */
    book: async () => {
      for (;;) {
        const rows = journal.settled(2)
        if (rows.length === 0) return
        ledger.book(rows.map(({ body }) => body))
        note(rows.at(-1)?.body ?? '')
        await journal.drop(rows.map(({ seq }) => seq))
      }
    },
    [Symbol.asyncDispose]: () => journal.close(),
  }
}

function newDirectory(): string {
  const path = mkdtempSync(join(tmpdir(), 'tollgate-test-'))
  directories.push(path)
  return path
}

const attempts = (to: number) => Array.from({ length: to }, (_, at) => `att_${at}`)
const sorted = (ledger: Ledger) =>
  ledger.attempts.toSorted((a, b) => Number(a.slice(4)) - Number(b.slice(4)))

async function settleAndBook(
  node: Pick<Awaited<ReturnType<typeof startNode>>, 'settle' | 'book'>,
  numbers: readonly number[],
  text?: string,
): Promise<void> {
  for (const number of numbers) await node.settle(number, text)
  await node.book()
}

const range = (from: number, to: number) => Array.from({ length: to - from }, (_, at) => from + at)

test('finding M21: a database that went back receives again, once, all that it had confirmed', async () => {
  const ledger = new Ledger()
  await using node = await startNode(newDirectory(), ledger)
  await node.lost.check()
  await settleAndBook(node, range(0, 20))
  ledger.goBack(7)
  await node.lost.check()
  expect(sorted(ledger)).toEqual(attempts(20))
  expect(node.reports).toEqual(['lost', { booked: 7, wasLost: true }])
  await node.lost.check()
  expect(node.reports).toHaveLength(2)
})

test('finding M21: released files contain the lost rows as well, and newer bookings do not hide them', async () => {
  const ledger = new Ledger()
  await using node = await startNode(newDirectory(), ledger)
  await node.lost.check()
  await settleAndBook(node, range(0, 12), filling)
  ledger.goBack(9)
  await settleAndBook(node, range(12, 16), filling)
  await node.lost.check()
  expect(sorted(ledger)).toEqual(attempts(16))
  expect(node.reports).toEqual(['lost', { booked: 9, wasLost: true }])
})

test('finding M21: a node that was killed before it noticed reads its journal at the next start', async () => {
  const [ledger, directory] = [new Ledger(), newDirectory()]
  {
    await using node = await startNode(directory, ledger)
    await settleAndBook(node, range(0, 12), filling)
  }
  ledger.goBack(5)
  await using node = await startNode(directory, ledger)
  await node.lost.check()
  expect(sorted(ledger)).toEqual(attempts(12))
  expect(node.reports).toEqual([{ booked: 5, wasLost: false }])
  // It has booked nothing itself, and notices the next failover nevertheless.
  ledger.goBack(3)
  await node.lost.check()
  expect(sorted(ledger)).toEqual(attempts(12))
})

test('finding M21: an unreachable database is queried again, and loses nothing by a second failover meanwhile', async () => {
  const ledger = new Ledger()
  await using node = await startNode(newDirectory(), ledger, { isDoubtful: false })
  await settleAndBook(node, range(0, 10))
  ledger.isAway = true
  await node.lost.check()
  expect(node.reports).toEqual([new Error('away')])
  ledger.isAway = false
  ledger.goBack(2)
  ledger.goBack(2)
  await node.lost.check()
  expect(sorted(ledger)).toEqual(attempts(10))
  ledger.goBack(1)
  await node.lost.check()
  expect(sorted(ledger)).toEqual(attempts(10))
})

test('finding M21: without a loss a check reads no file, and looks only for the last bookings', async () => {
  const ledger = new Ledger()
  await using node = await startNode(newDirectory(), ledger, { isDoubtful: false })
  await node.lost.check()
  expect(ledger.lookedUp).toBe(0)
  await settleAndBook(node, range(0, 10))
  await node.lost.check()
  await node.lost.check()
  expect([ledger.lookedUp, node.reads(), node.reports]).toEqual([2, 0, []])
})

test('finding M21: the usage of another database is not booked', async () => {
  const directory = newDirectory()
  {
    await using node = await startNode(directory, new Ledger())
    await settleAndBook(node, range(0, 6))
  }
  const other = new Ledger()
  await using node = await startNode(directory, other)
  await node.lost.check()
  expect(other.attempts).toEqual([])
  expect(node.reports).toEqual([{ foreign: 6 }])
})

test('finding M21: rows of another version are left out', async () => {
  const ledger = new Ledger()
  await using node = await startNode(newDirectory(), ledger, { isDoubtful: false })
  await node.settle(0)
  await node.journal.settle('other_1', 'other_1')
  await settleAndBook(node, [2, 3])
  ledger.goBack(1)
  await node.lost.check()
  expect(ledger.attempts).toContain('att_3')
  expect(node.reports).toEqual(['lost', { booked: 1, wasLost: true }])
})
