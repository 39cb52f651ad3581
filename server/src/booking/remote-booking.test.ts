import { describe, expect, test } from 'bun:test'
import { SettledAttempt } from './book-usage'
import { RemoteBooking, toBookingReply } from './remote-booking'
import { createTestEvent, recordForTests } from '../../testing/ledger/event'
import { UnreadableRows, type SettledRange } from '../journal/settled-range'
import { positionOf } from '../journal/segment'
import type { WrittenOff } from '../ledger/settle'

const body = recordForTests('user_1', { cost: 1n })

/** Rows of the seventh segment, from an offset on. */
const rowsFrom = (offset: number, count: number) =>
  Array.from({ length: count }, (_, index) => ({ seq: positionOf(7, offset + index * 100), body }))

const allCharged = () => toBookingReply(Promise.resolve<WrittenOff>(new Map()))

/** A worker's side, over a launcher whose next reply a test sets. */
function workerSide() {
  const sent: SettledRange[] = []
  const here: number[] = []
  const reasons: string[] = []
  let reply: () => Promise<unknown> = allCharged
  const remote = new RemoteBooking({
    ask: async (range) => {
      sent.push(range)
      // As between processes: only JSON arrives.
      const value = await reply()
      return value === undefined ? undefined : JSON.parse(JSON.stringify(value))
    },
    bookHere: async (attempts) => void here.push(attempts.length),
    onLocal: (reason) => void reasons.push(reason),
  })
  const replyWith = (next: () => Promise<unknown>) => (reply = next)
  return { remote, sent, here, reasons, replyWith }
}

describe('a worker’s settled rows', () => {
  test('are sent as positions in its files, each range from the end of the one before', async () => {
    const { remote, sent, here } = workerSide()
    await remote.book(rowsFrom(500, 3))
    await remote.book(rowsFrom(800, 2))
    await remote.book([])
    expect(sent).toEqual([
      { start: positionOf(7, 0), first: positionOf(7, 500), last: positionOf(7, 700), count: 3 },
      { start: positionOf(7, 700), first: positionOf(7, 800), last: positionOf(7, 900), count: 2 },
    ])
    expect(here).toEqual([])
  })

  test('are sent again, as they were, after the ledger failed', async () => {
    const { remote, sent, here, replyWith } = workerSide()
    replyWith(() => toBookingReply(Promise.reject(new Error('the database is away'))))
    const rows = rowsFrom(500, 3)
    expect(await remote.book(rows).catch(String)).toBe('Error: the database is away')
    replyWith(allCharged)
    await remote.book(rows)
    const [first, second] = sent
    expect(second).toEqual(first)
    expect(here).toEqual([])
  })

  test('are booked by the worker where the launcher does not reply, or cannot read them', async () => {
    const { remote, sent, here, reasons, replyWith } = workerSide()
    replyWith(() => Promise.resolve(undefined))
    await remote.book(rowsFrom(500, 3))
    replyWith(() => toBookingReply(Promise.reject(new UnreadableRows('2 of 4 can be read'))))
    await remote.book(rowsFrom(800, 4))
    expect(here).toEqual([3, 4])
    expect(reasons).toEqual(['no reply', '2 of 4 can be read'])
    replyWith(allCharged)
    await remote.book(rowsFrom(1200, 1))
    expect(sent.at(-1)?.start).toBe(positionOf(7, 1100))
    expect(here).toEqual([3, 4])
  })

  test('report the part of a cost that was charged', async () => {
    const { remote, replyWith } = workerSide()
    const event = createTestEvent('user_1', { cost: 10n })
    const attempt = new SettledAttempt(body, body.length, event)
    const charged: bigint[] = []
    attempt.onCharged = (amount) => void charged.push(amount)
    replyWith(() => toBookingReply(Promise.resolve(new Map([[event.id, 4n]]))))
    await remote.book([{ seq: positionOf(7, 500), body: attempt.body, origin: attempt }])
    expect(charged).toEqual([6n])
  })
})
