import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { recordFigure } from '../../../server/testing/figures'
import { endStreams, startEndless, untilAdmitted } from './endless'
import { limit, limitedCustomer } from './limit-nodes'
import { admitted, assumedUnits, fire, maxInAll, maxPerMinute, report } from './load'
import { expectProperAnswers, startLimitPair, type LimitPair } from './shared-limits'
import type { Customer, Gateway } from '../../harness/server'

let nodes: LimitPair
let customer: Customer

beforeAll(async () => {
  nodes = await startLimitPair()
}, 120_000)
afterAll(() => nodes[Symbol.asyncDispose]())
beforeEach(async () => {
  customer = await limitedCustomer(nodes.a)
})

describe('two nodes, one Redis', () => {
  // The row promises three minutes; one and a half cover every way in which a window ends. More requests a second than
  // the machine can send would only wait.
  test('R05: 60 a minute are 60 a minute, at 100 requests a second', async () => {
    const before = await assumedUnits(nodes.both)
    const shots = await fire(nodes.both, customer, { perSecond: 100, seconds: 90 })
    report('R05', shots)
    expectProperAnswers(shots)
    // A node whose store does not answer in time admits its share of a new limit, and counts that it did.
    const assumed = (await assumedUnits(nodes.both)) - before
    expect(maxPerMinute(shots)).toBeLessThanOrEqual(62 + assumed)
    expect(admitted(shots).length).toBeLessThanOrEqual(maxInAll(shots, limit) + assumed)
    recordFigure('R05: units admitted without Redis, which answered late', assumed, {
      unit: 'units',
      atMost: 0,
    })
    expect(admitted(shots).length).toBeGreaterThanOrEqual(100)
  }, 300_000)

  test('a concurrency slot taken on one node is taken on the other', async () => {
    await using endless = await startEndless(nodes.a)
    const { a, b } = nodes
    const chat = (node: Gateway) => endless.begin(node, customer.key)
    const before = await assumedUnits(nodes.both)
    const running = await Promise.all([a, b, a, b].map((node) => untilAdmitted(() => chat(node))))
    const more = await Promise.all([chat(a), chat(b)])
    // Exact, unless a node's store answered late: then it admitted its share, and counts that it did.
    const assumed = (await assumedUnits(nodes.both)) - before
    const beyond = more.filter(({ status }) => status !== 429)
    expect(beyond.length).toBeLessThanOrEqual(assumed)
    running.push(...beyond)
    await endStreams(running)
    await endStreams([await untilAdmitted(() => chat(b))])
  })
})
