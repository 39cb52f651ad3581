import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { recordFigure } from '../../../server/testing/figures'
import { limit, limitedCustomer } from './limit-nodes'
import { assumedUnits, expectAnswered, fire, maxPerMinute, percentile, report } from './load'
import type { LoadRequest } from './load'
import { startLimitTrio, type LimitTrio } from './postgres-limits'
import type { Customer } from '../../harness/server'

let nodes: LimitTrio
let customer: Customer

beforeAll(async () => {
  nodes = await startLimitTrio()
}, 120_000)
afterAll(() => nodes[Symbol.asyncDispose]())
beforeEach(async () => {
  customer = await limitedCustomer(nodes.at(0))
})

describe('PostgreSQL unavailable', () => {
  test('R01: killed, and back with empty tables: no request fails, the limit holds', async () => {
    const before = await assumedUnits(nodes.all)
    let assumed = 0
    const kill = async () => {
      // Of the new limit, where PostgreSQL answered late before it was killed.
      assumed = (await assumedUnits(nodes.all)) - before
      await nodes.postgres.kill()
    }
    const shots = await fire(nodes.all, customer, {
      perSecond: 20,
      seconds: 60,
      during: [
        [10, kill],
        [20, () => nodes.postgres.restart()],
      ],
    })
    report('R01', shots)
    expectAnswered(shots)
    expect(maxPerMinute(shots)).toBeLessThanOrEqual(limit + assumed)
    await nodes.untilShared()
  }, 240_000)

  test('R02: frozen: a few requests wait, the others not at all', async () => {
    await fire(nodes.all, customer, { perSecond: 20, seconds: 1 })
    let shots: LoadRequest[]
    {
      using _frozen = await nodes.postgres.freeze()
      shots = await fire(nodes.all, customer, { perSecond: 20, seconds: 5 })
    }
    report('R02', shots)
    expectAnswered(shots)
    await nodes.untilShared()
    const waiting = shots.filter(({ tookMs }) => tookMs > 40)
    // Five a node, and those in flight when the fifth failed.
    recordFigure('R02: requests that wait for a frozen PostgreSQL', waiting.length, {
      unit: 'requests',
      atMost: 21,
    })
    recordFigure('R02: the longest wait for a frozen PostgreSQL', percentile(shots, 1), {
      unit: 'ms',
      atMost: 150,
    })
  }, 240_000)

  test('R06: a node that is cut off keeps to its slice, and all together to the limit', async () => {
    const wire = nodes.wireOf(2)
    // Each node knows the key, and has a slice.
    const assumedBefore = await assumedUnits(nodes.all)
    const before = await fire(nodes.all, customer, { perSecond: 20, seconds: 0.5 })
    const assumed = (await assumedUnits(nodes.all)) - assumedBefore
    wire.cut()
    const shots = await fire(nodes.all, customer, { perSecond: 50, seconds: 30 })
    wire.mend()
    await nodes.untilShared()
    report('R06', shots)
    expectAnswered(shots)
    expect(maxPerMinute([...before, ...shots])).toBeLessThanOrEqual(limit + assumed)
  }, 240_000)
})
