import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { eventually } from '../../../server/testing/eventually'
import { recordFigure } from '../../../server/testing/figures'
import { limit, limitedCustomer } from './limit-nodes'
import { admitted, fire, maxInAll, maxPerMinute, percentile, report } from './load'
import { expectProperAnswers, startLimitPair, type LimitPair } from './shared-limits'
import { internalUrl, scrape } from '../../harness/scrape'
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

const isStoreUpAtB = async () =>
  (await scrape(await internalUrl(nodes.b))).sum('tollgate_limit_store_up') === 1

describe('Redis unreachable', () => {
  test('R06: a node that is cut off enforces its share, the other the whole limit', async () => {
    nodes.wire.cut()
    await eventually(async () => !(await isStoreUpAtB()))
    const shots = await fire(nodes.both, customer, { perSecond: 50, seconds: 30 })
    expect(await isStoreUpAtB()).toBe(false)
    nodes.wire.mend()
    await nodes.untilShared()
    report('R06', shots)
    expectProperAnswers(shots)
    const [a, b] = [0, 1].map((node) => maxPerMinute(shots.filter((shot) => shot.node === node)))
    expect(b).toBeLessThanOrEqual(limit / 2)
    expect(a).toBeLessThanOrEqual(limit)
    expect(admitted(shots).length).toBeLessThanOrEqual(maxInAll(shots, 1.5 * limit))
    expect(maxPerMinute(shots)).toBeLessThanOrEqual(1.5 * limit)
  }, 240_000)

  test('R04: 100 ms late: counts as unreachable', async () => {
    nodes.wire.delay(100)
    const shots = await fire([nodes.b], customer, { perSecond: 50, seconds: 10 })
    expect(await isStoreUpAtB()).toBe(false)
    nodes.wire.delay(0)
    report('R04', shots)
    expectProperAnswers(shots)
    await nodes.untilShared()
    recordFigure('R04: requests while Redis is 100 ms late, p99', percentile(shots, 0.99), {
      unit: 'ms',
      atMost: 60,
    })
  }, 240_000)

  test('R02: frozen: a few requests wait 50 ms, the others not at all', async () => {
    await fire(nodes.both, customer, { perSecond: 20, seconds: 1 })
    nodes.redis.signal('SIGSTOP')
    const shots = await fire(nodes.both, customer, { perSecond: 20, seconds: 5 })
    nodes.redis.signal('SIGCONT')
    report('R02', shots)
    expectProperAnswers(shots)
    await nodes.untilShared()
    const waiting = shots.filter(({ tookMs }) => tookMs > 40)
    // Five a node, and those in flight when the fifth failed.
    recordFigure('R02: requests that wait for a frozen Redis', waiting.length, {
      unit: 'requests',
      atMost: 14,
    })
    recordFigure('R02: the longest wait for a frozen Redis', percentile(shots, 1), {
      unit: 'ms',
      atMost: 120,
    })
  }, 240_000)
})
