import { expect, test } from 'bun:test'
import * as fc from '../../testing/property'
import { MemberBook } from './member-book'

function opened() {
  const clock = { ms: 1_000_000 }
  const book = new MemberBook({ now: () => clock.ms })
  return { clock, book }
}

test('a member that failed cools down for a minute, and no longer', () => {
  const { clock, book } = opened()
  book.asked('one', 'user_1').failed()
  clock.ms += 59_999
  expect(book.look('one', 'user_1').isCoolingDown).toBeTrue()
  expect(book.look('two', 'user_1').isCoolingDown).toBeFalse()
  clock.ms += 1
  expect(book.look('one', 'user_1').isCoolingDown).toBeFalse()
})

test('S1: a member that failed for one account cools down for nobody else', () => {
  const { book } = opened()
  for (let k = 0; k < 10; k++) book.asked('one', 'user_1').failed()
  const cooling = ['user_1', 'user_2'].map((account) => book.look('one', account).isCoolingDown)
  expect(cooling).toEqual([true, false])
})

test('of the accounts that a member cools down for the latest are remembered', () => {
  const { book } = opened()
  for (let k = 0; k < 300; k++) book.asked('one', `user_${k}`).failed()
  const cooling = [43, 44, 299].map((k) => book.look('one', `user_${k}`).isCoolingDown)
  expect(cooling).toEqual([false, true, true])
})

test('what runs is counted until it ends, however often its end is told', () => {
  const { book } = opened()
  const [first, second] = [book.asked('one', 'user_1'), book.asked('one', 'user_1')]
  expect(book.look('one', 'user_1').inFlight).toBe(2)
  first.ended()
  first.ended()
  expect(book.look('one', 'user_1').inFlight).toBe(1)
  second.ended()
  expect(book.look('one', 'user_1').inFlight).toBe(0)
})

test('the last minute is the last minute, to within 5 s', () => {
  const gaps = fc.array(fc.integer({ min: 0, max: 40_000 }), { maxLength: 60 })
  fc.assert(
    fc.property(gaps, (waits) => {
      const { clock, book } = opened()
      const times = waits.map((wait) => {
        clock.ms += wait
        book.asked('one', 'user_1')
        return clock.ms
      })
      const within = (ms: number) => times.filter((time) => time > clock.ms - ms).length
      const { lastMinute } = book.look('one', 'user_1')
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
          const asked = book.asked('one', 'user_1')
          clock.ms += latency
          asked.answered()
        }
        const last = all.slice(-100)
        const mean = last.reduce((sum, latency) => sum + latency, 0) / last.length
        return Math.abs((book.look('one', 'user_1').meanLatencyMs ?? -1) - mean) < 1e-6
      },
    ),
  )
})
