import { expect, test } from 'bun:test'

import { Flusher } from './flusher'
import { settled, TestClock } from '../../testing/clock'
import { recordForTests } from '../../testing/ledger/event'

const body = recordForTests('user_1', { cost: 1n })

/** A journal in memory: `settle` as the real one, in no time. */
function newJournal() {
  let seq = 0
  let rows: { seq: number; body: string }[] = []
  return {
    get size() {
      return rows.length
    },
    settled: (limit: number) => rows.slice(0, limit),
    drop: async (seqs: readonly number[]) => {
      rows = rows.filter((row) => !seqs.includes(row.seq))
    },
    settle: () => void rows.push({ seq: ++seq, body }),
  }
}

test('books rows that arrive during a batch in the next one, or at once if a batch is full', async () => {
  const journal = newJournal()
  const clock = new TestClock()
  const sizes: number[] = []
  const errors: unknown[] = []
  await using _flusher = new Flusher({
    journal,
    book: async (events) => {
      sizes.push(events.length)
      await clock.sleep(5)
      // There is always a request that has just ended.
      if (sizes.length < 3) journal.settle()
    },
    onError: (error) => errors.push(error),
    clock,
  })
  for (let count = 0; count < 4001; count++) journal.settle()
  await clock.advance(249)
  expect(sizes).toEqual([])
  // Two full ones at once, each of which takes 5 ms, the rest 250 ms after them.
  await clock.advance(1 + 10 + 249)
  expect(sizes).toEqual([2000, 2000])
  await clock.advance(1 + 5)
  expect(sizes).toEqual([2000, 2000, 3])
  expect([journal.size, errors]).toEqual([0, []])
})

test('books all settled rows on demand, without rejecting on failure', async () => {
  const journal = newJournal()
  const clock = new TestClock()
  let batches = 0
  let isDown = false
  await using flusher = new Flusher({
    journal,
    book: async () => {
      batches += 1
      await clock.sleep(5)
      if (isDown) throw new Error('down')
    },
    onError: () => undefined,
    clock,
  })
  await flusher.catchUp()
  expect(batches).toBe(0)
  journal.settle()
  const first = flusher.catchUp()
  await settled()
  journal.settle()
  // What came after the first began is none of its batch; all who wait share the next one.
  await clock.run(Promise.all([first, flusher.catchUp(), flusher.catchUp()]))
  expect([journal.size, batches]).toEqual([0, 2])
  isDown = true
  journal.settle()
  await clock.run(flusher.catchUp())
  expect(journal.size).toBe(1)
})
