import { expect, test } from 'bun:test'

import { Flusher } from './flusher'
import { recordForTests } from '../ledger/event-for-tests'

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

test('what is settled while a batch is booked waits for the next, unless a batch is full', async () => {
  const journal = newJournal()
  const sizes: number[] = []
  const booked = Promise.withResolvers<void>()
  await using _flusher = new Flusher({
    journal,
    book: async (events) => {
      sizes.push(events.length)
      await Bun.sleep(5)
      // There is always somebody whose request has just ended.
      if (sizes.length < 3) journal.settle()
      else booked.resolve()
    },
    onError: (error) => booked.reject(error),
  })
  for (let count = 0; count < 4001; count++) journal.settle()
  const startedAt = performance.now()
  await booked.promise
  // Two full ones at once, the rest 250 ms after the first.
  expect(sizes).toEqual([2000, 2000, 3])
  expect(performance.now() - startedAt).toBeGreaterThan(450)
})
