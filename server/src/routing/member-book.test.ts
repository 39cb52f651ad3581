import { expect, test } from 'bun:test'
import * as fc from 'fast-check'
import { MemberBook } from './member-book'

function opened() {
  const clock = { ms: 1_000_000 }
  const book = new MemberBook({ now: () => clock.ms })
  return { clock, book }
}

test('a member that failed cools down for a minute, and no longer', () => {
  const { clock, book } = opened()
  book.asked('one').failed()
  clock.ms += 59_999
  expect(book.look('one').isCoolingDown).toBeTrue()
  expect(book.look('two').isCoolingDown).toBeFalse()
  clock.ms += 1
  expect(book.look('one').isCoolingDown).toBeFalse()
})

test('what runs is counted until it ends, however often its end is told', () => {
  const { book } = opened()
  const [first, second] = [book.asked('one'), book.asked('one')]
  expect(book.look('one').inFlight).toBe(2)
  first.ended()
  first.ended()
  expect(book.look('one').inFlight).toBe(1)
  second.ended()
  expect(book.look('one').inFlight).toBe(0)
})

test('the last minute is the last minute, to within 5 s', () => {
  const gaps = fc.array(fc.integer({ min: 0, max: 40_000 }), { maxLength: 60 })
  fc.assert(
    fc.property(gaps, (waits) => {
      const { clock, book } = opened()
      const times = waits.map((wait) => {
        clock.ms += wait
        book.asked('one')
        return clock.ms
      })
      const within = (ms: number) => times.filter((time) => time > clock.ms - ms).length
      const { lastMinute } = book.look('one')
      return lastMinute >= within(55_000) && lastMinute <= within(60_000)
    }),
  )
})

test('the mean is that of the last 100 successes', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 9999 }), { minLength: 1, maxLength: 250 }),
      (all) => {
        const { clock, book } = opened()
        for (const latency of all) {
          const asked = book.asked('one')
          clock.ms += latency
          asked.answered()
        }
        const last = all.slice(-100)
        const mean = last.reduce((sum, latency) => sum + latency, 0) / last.length
        return Math.abs((book.look('one').meanLatencyMs ?? -1) - mean) < 1e-6
      },
    ),
  )
})
