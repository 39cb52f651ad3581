import { expect, test } from 'bun:test'

import { Flusher } from './flusher'
import type { UsageEvent } from '../ledger/usage-event'
import { toRecord } from '../ledger/usage-record'

const event: UsageEvent = {
  id: 'att_1',
  requestId: 'req_1',
  userId: 'user_1',
  keyId: 'key_1',
  accountId: 'user_1',
  leaseId: null,
  billingMode: 'platform',
  operation: 'chat',
  model: 'fake/ok',
  provider: 'fake',
  connectionId: null,
  streamed: false,
  outcome: 'ok',
  state: 'settled',
  startedAt: '2026-11-21T10:11:12.345Z',
  durationMs: 12,
  firstTokenMs: null,
  tokens: {
    input: 1,
    cachedInput: 0,
    cacheWrite: 0,
    output: 1,
    reasoning: 0,
    audioInput: 0,
    audioOutput: 0,
  },
  estimated: false,
  pricing: null,
  cost: 1n,
  fromLease: 0n,
}
const body = toRecord(event)

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
