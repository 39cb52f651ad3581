import { expect, test } from 'bun:test'
import * as fc from '../../testing/property'
import { MemberStats } from './member-stats'

function opened() {
  const clock = { ms: 1_000_000 }
  const stats = new MemberStats({ now: () => clock.ms })
  return { clock, stats }
}

test('a member that failed cools down for a minute, and no longer', () => {
  const { clock, stats } = opened()
  stats.begin('one', 'user_1').recordFailure()
  clock.ms += 59_999
  expect(stats.stateOf('one', 'user_1').isCoolingDown).toBeTrue()
  expect(stats.stateOf('two', 'user_1').isCoolingDown).toBeFalse()
  clock.ms += 1
  expect(stats.stateOf('one', 'user_1').isCoolingDown).toBeFalse()
})

test('S1: a member that failed for one account cools down for that account only', () => {
  const { stats } = opened()
  for (let k = 0; k < 10; k++) stats.begin('one', 'user_1').recordFailure()
  const cooling = ['user_1', 'user_2'].map((account) => stats.stateOf('one', account).isCoolingDown)
  expect(cooling).toEqual([true, false])
})

test('the latest accounts that a member cools down for are remembered', () => {
  const { stats } = opened()
  for (let k = 0; k < 300; k++) stats.begin('one', `user_${k}`).recordFailure()
  const cooling = [43, 44, 299].map((k) => stats.stateOf('one', `user_${k}`).isCoolingDown)
  expect(cooling).toEqual([false, true, true])
})

test('counts a request until it ends, for any number of reports of its end', () => {
  const { stats } = opened()
  const [first, second] = [stats.begin('one', 'user_1'), stats.begin('one', 'user_1')]
  expect(stats.stateOf('one', 'user_1').inFlight).toBe(2)
  first.end()
  first.end()
  expect(stats.stateOf('one', 'user_1').inFlight).toBe(1)
  second.end()
  expect(stats.stateOf('one', 'user_1').inFlight).toBe(0)
})

test('the last minute is the last minute, to within 5 s', () => {
  const gaps = fc.array(fc.integer({ min: 0, max: 40_000 }), { maxLength: 60 })
  fc.assert(
    fc.property(gaps, (waits) => {
      const { clock, stats } = opened()
      const times = waits.map((wait) => {
        clock.ms += wait
        stats.begin('one', 'user_1')
        return clock.ms
      })
      const within = (ms: number) => times.filter((time) => time > clock.ms - ms).length
      const { lastMinute } = stats.stateOf('one', 'user_1')
      return lastMinute >= within(55_000) && lastMinute <= within(60_000)
    }),
  )
})

test('the mean is that of the last 100 successes', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 9999 }), { minLength: 1, maxLength: 250 }),
      (all) => {
        const { clock, stats } = opened()
        for (const latency of all) {
          const request = stats.begin('one', 'user_1')
          clock.ms += latency
          request.recordAnswer()
        }
        const last = all.slice(-100)
        const mean = last.reduce((sum, latency) => sum + latency, 0) / last.length
        return Math.abs((stats.stateOf('one', 'user_1').meanLatencyMs ?? -1) - mean) < 1e-6
      },
    ),
  )
})
