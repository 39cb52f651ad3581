import { describe, expect, test } from 'bun:test'
import type { SettledAttempt } from './book-usage'
import { Booker } from './booker'
import { recordForTests } from '../../testing/ledger/event'
import { UnreadableRows, type SettledRange } from '../journal/settled-range'

const rangeOf = (first: number, count: number): SettledRange => ({
  start: 0,
  first,
  last: first + count - 1,
  count,
})

const body = recordForTests('user_1', { cost: 1n })

const read = (directory: string, { count }: SettledRange) => {
  if (directory === 'unreadable') throw new UnreadableRows('gone')
  return Array.from({ length: count }, (_, index) => ({
    seq: index + 1,
    attemptId: 'att',
    body: directory === 'bad' ? `${body} ` : body,
  }))
}

/** A booker whose ledger rejects batches that contain rows of a directory named `bad`, and holds each until `open`. */
function bookerWithLedger() {
  const batches: number[] = []
  let gate = Promise.resolve()
  let rejected = ''
  const booker = new Booker({
    read,
    book: async (attempts: readonly SettledAttempt[]) => {
      batches.push(attempts.length)
      await gate
      if (rejected !== '' && attempts.some((one) => one.body.endsWith(' ')))
        throw new Error(rejected)
      return new Map([['att_lost', BigInt(attempts.length)]])
    },
  })
  return {
    booker,
    batches,
    close: () => {
      const { promise, resolve } = Promise.withResolvers<void>()
      gate = promise
      return resolve
    },
    reject: (message: string) => (rejected = message),
  }
}

describe('the booker of several journals', () => {
  test('books a request that follows a booking at once', async () => {
    const { booker, batches } = bookerWithLedger()
    const request = { directory: 'a', range: rangeOf(1, 2) }
    await booker.book(request).then(() => booker.book(request))
    expect(batches).toEqual([2, 2])
  })

  test('books arrivals during a batch together, in the next', async () => {
    const { booker, batches, close } = bookerWithLedger()
    const open = close()
    const first = booker.book({ directory: 'a', range: rangeOf(1, 2) })
    const others = [
      booker.book({ directory: 'b', range: rangeOf(1, 3) }),
      booker.book({ directory: 'c', range: rangeOf(1, 4) }),
    ]
    open()
    expect(await first).toEqual(new Map([['att_lost', 2n]]))
    expect(await Promise.all(others)).toEqual(others.map(() => new Map([['att_lost', 7n]])))
    expect(batches).toEqual([2, 7])
  })

  test('books the rows of the other journals if the ledger rejects one journal’s', async () => {
    const { booker, batches, close, reject } = bookerWithLedger()
    reject('rejected')
    const open = close()
    const first = booker.book({ directory: 'a', range: rangeOf(1, 1) })
    const bad = booker.book({ directory: 'bad', range: rangeOf(1, 3) }).catch(String)
    const good = booker.book({ directory: 'c', range: rangeOf(1, 4) })
    open()
    await first
    expect(await bad).toBe('Error: rejected')
    expect(await good).toEqual(new Map([['att_lost', 4n]]))
    expect(batches).toEqual([1, 7, 3, 4])
  })

  test('books the rows of the other journals if one journal is unreadable', async () => {
    const { booker, batches, close } = bookerWithLedger()
    const open = close()
    const first = booker.book({ directory: 'a', range: rangeOf(1, 1) })
    const lost = booker.book({ directory: 'unreadable', range: rangeOf(1, 3) }).catch(String)
    const good = booker.book({ directory: 'c', range: rangeOf(1, 4) })
    open()
    await first
    expect(await lost).toBe('UnreadableRows: gone')
    expect(await good).toEqual(new Map([['att_lost', 4n]]))
    expect(batches).toEqual([1, 4])
  })

  test('ends after the requests that were sent before', async () => {
    const { booker, batches, close } = bookerWithLedger()
    const open = close()
    const all = [
      booker.book({ directory: 'a', range: rangeOf(1, 1) }),
      booker.book({ directory: 'b', range: rangeOf(1, 1) }),
    ]
    const ended = booker[Symbol.asyncDispose]()
    open()
    await ended
    expect(batches).toEqual([1, 1])
    await Promise.all(all)
  })
})
