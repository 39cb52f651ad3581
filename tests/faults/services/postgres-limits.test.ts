import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { eventually } from '../../../server/testing/eventually'
import { recordFigure } from '../../../server/testing/figures'
import { beginStream, endStreams, untilAdmitted } from './endless'
import { limit, limitedCustomer } from './limit-nodes'
import {
  admitted,
  assumedUnits,
  expectAnswered,
  fire,
  maxInAll,
  maxPerMinute,
  report,
  shoot,
} from './load'
import { count, startLimitTrio, type LimitTrio } from './postgres-limits'
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

describe('three nodes without a Redis', () => {
  test('R05: 60 a minute are 60 a minute over PostgreSQL, at 100 requests a second', async () => {
    const before = await assumedUnits(nodes.all)
    const shots = await fire(nodes.all, customer, { perSecond: 100, seconds: 75 })
    report('R05', shots)
    expectAnswered(shots)
    // A node whose store does not answer in time admits its share of a new limit, and counts that it did.
    const assumed = (await assumedUnits(nodes.all)) - before
    expect(maxPerMinute(shots)).toBeLessThanOrEqual(limit + assumed)
    expect(admitted(shots).length).toBeLessThanOrEqual(maxInAll(shots, limit) + assumed)
    recordFigure('R05: units admitted without PostgreSQL, which answered late', assumed, {
      unit: 'units',
      atMost: 0,
    })
    expect(admitted(shots).length).toBeGreaterThanOrEqual(limit)
  }, 300_000)

  test('a limit that is not reached refuses nothing, however unevenly the nodes are used', async () => {
    let refused = 0
    const sendUntilAdmitted = (index: number) =>
      eventually(async () => {
        const { status } = await shoot(nodes.at(index), index, customer.key)
        if (status !== 200) refused += 1
        return status === 200
      })
    for (let round = 0; round < limit / count; round++) {
      const index = round < 5 ? 0 : round % count
      await Promise.all([sendUntilAdmitted(index), sendUntilAdmitted(index)])
    }
    // A node waits 80 ms for a store that was near, and then refuses what its own slice has no room for.
    recordFigure('requests refused by a limit that is not reached', refused, {
      unit: 'requests',
      atMost: 0,
    })
  }, 120_000)

  test('a concurrency slot taken on one node is taken on the others', async () => {
    const model = await nodes.model('chunks-10000-gap-100', { pricing: undefined, is_free: true })
    const chat = (index: number) => beginStream(nodes.at(index), customer.key, model)
    const before = await assumedUnits(nodes.all)
    const running = await Promise.all([0, 1, 2, 0].map((index) => untilAdmitted(() => chat(index))))
    const more = await Promise.all([chat(0), chat(1), chat(2)])
    // Exact, unless a node's store answered late: then it admitted its share, and counts that it did.
    const assumed = (await assumedUnits(nodes.all)) - before
    const beyond = more.filter(({ status }) => status !== 429)
    expect(beyond.length).toBeLessThanOrEqual(assumed)
    running.push(...beyond)
    await endStreams(running)
    await endStreams([await untilAdmitted(() => chat(2))])
  }, 120_000)
})
