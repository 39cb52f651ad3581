import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { limit, limitedCustomer } from './limit-nodes'
import { admitted, assumedUnits, fire, maxPerMinute, report } from './load'
import { expectProperAnswers, startLimitPair, type LimitPair } from './shared-limits'
import type { Customer } from '../../harness/server'

let nodes: LimitPair
let customer: Customer

beforeAll(async () => {
  nodes = await startLimitPair()
}, 120_000)
afterAll(() => nodes[Symbol.asyncDispose]())
beforeEach(async () => {
  customer = await limitedCustomer(nodes.a)
})

/** Counts the units of a new limit that nodes admitted before Redis was killed, as it answered late. */
async function countAssumed() {
  const before = await assumedUnits(nodes.both)
  let assumed = 0
  const kill = async () => {
    assumed = (await assumedUnits(nodes.both)) - before
    await nodes.redis.kill()
  }
  return { kill, assumed: () => assumed }
}

describe('Redis restarted', () => {
  test('R01: killed, and back empty after 20 s: no request fails, the limit holds', async () => {
    const { kill, assumed } = await countAssumed()
    const shots = await fire(nodes.both, customer, {
      perSecond: 20,
      seconds: 75,
      during: [
        [15, kill],
        [35, () => nodes.redis.restart()],
      ],
    })
    report('R01 R03', shots)
    expectProperAnswers(shots)
    expect(maxPerMinute(shots)).toBeLessThanOrEqual(1.1 * limit + assumed())
    expect(admitted(shots).length).toBeGreaterThanOrEqual(limit)
  }, 240_000)

  test('R03: restarted empty at once: at most twice the limit for a minute', async () => {
    const { kill, assumed } = await countAssumed()
    const shots = await fire(nodes.both, customer, {
      perSecond: 20,
      seconds: 30,
      during: [
        [10, kill],
        [10, () => nodes.redis.restart()],
      ],
    })
    report('R03', shots)
    expectProperAnswers(shots)
    expect(maxPerMinute(shots)).toBeLessThanOrEqual(2 * limit + assumed())
  }, 240_000)
})
