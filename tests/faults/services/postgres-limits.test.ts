import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { eventually } from '../../../server/testing/eventually'
import { recordFigure } from '../../../server/testing/figures'
import { beginStream, untilAdmitted } from './endless'
import {
  assumedUnits,
  fire,
  maxInAll,
  maxPerMinute,
  percentile,
  shoot,
  type LoadRequest,
} from './load'
import { startNodes, type Nodes } from '../../harness/nodes'
import type { Customer } from '../../harness/server'

const count = 3
const limit = 60

let nodes: Nodes
let customer: Customer

beforeAll(async () => {
  nodes = await startNodes(count, {
    METRICS_PORT: '0',
    LOG_LEVEL: 'info',
    LIMIT_STORE: 'postgresql',
  })
  // All nodes know each other: a heartbeat is 1 s.
  await Bun.sleep(3000)
}, 120_000)
afterAll(async () => {
  for (const { recorder } of nodes.all) recorder.verify()
  await nodes[Symbol.asyncDispose]()
})
beforeEach(async () => {
  const fields = { name: crypto.randomUUID(), requests_per_minute: limit, concurrent_requests: 4 }
  const plan = await nodes.at(0).admin('POST', '/plans', fields)
  customer = await nodes.at(0).customer({}, { plan_id: plan['id'] })
})

const admitted = (shots: readonly LoadRequest[]) => shots.filter(({ status }) => status === 200)

function report(name: string, shots: readonly LoadRequest[]) {
  console.log(
    `${name}: ${maxPerMinute(shots)} of ${limit} a minute, ${admitted(shots).length} in all, ` +
      `p50 ${percentile(shots, 0.5).toFixed(1)} p99 ${percentile(shots, 0.99).toFixed(1)} ms`,
  )
  for (const { status } of shots) expect([200, 429]).toContain(status)
}

describe('three nodes without a Redis', () => {
  test('R05: 60 a minute are 60 a minute over PostgreSQL, at 100 requests a second', async () => {
    const before = await assumedUnits(nodes.all)
    const shots = await fire(nodes.all, customer, { perSecond: 100, seconds: 75 })
    report('R05', shots)
    // A node whose store does not answer in time admits its share of a new limit, and counts that it did.
    const assumed = (await assumedUnits(nodes.all)) - before
    expect(maxPerMinute(shots)).toBeLessThanOrEqual(limit + assumed)
    expect(admitted(shots).length).toBeLessThanOrEqual(maxInAll(shots, limit) + assumed)
    recordFigure('R05: units admitted without PostgreSQL, which answered late', assumed, {
      unit: 'units',
      atMost: 0,
    })
    expect(admitted(shots).length).toBeGreaterThanOrEqual(limit)
  }, 150_000)

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
  }, 60_000)

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
    for (const { body } of running) await body?.cancel()
    await eventually(async () => (await chat(2)).status === 200)
  }, 60_000)
})

/** Waits for reconnection: the store is tried every half second; a lost connection is replaced after five. */
const backAgain = () => Bun.sleep(6000)

describe('PostgreSQL unavailable', () => {
  test('R01: killed, and back with empty tables: no request fails, the limit holds', async () => {
    const before = await assumedUnits(nodes.all)
    const firing = fire(nodes.all, customer, { perSecond: 20, seconds: 60 })
    await Bun.sleep(10_000)
    // Of the new limit, where PostgreSQL answered late before it was killed.
    const assumed = (await assumedUnits(nodes.all)) - before
    await nodes.postgres.kill()
    await Bun.sleep(10_000)
    await nodes.postgres.restart()
    const shots = await firing
    report('R01', shots)
    expect(maxPerMinute(shots)).toBeLessThanOrEqual(limit + assumed)
    await backAgain()
  }, 120_000)

  test('R02: frozen: a few requests wait, the others not at all', async () => {
    await fire(nodes.all, customer, { perSecond: 20, seconds: 1 })
    let shots: LoadRequest[]
    {
      using _frozen = await nodes.postgres.freeze()
      shots = await fire(nodes.all, customer, { perSecond: 20, seconds: 5 })
    }
    report('R02', shots)
    await backAgain()
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
  }, 90_000)

  test('R06: a node that is cut off keeps to what it has, and all together to the limit', async () => {
    const wire = nodes.wireOf(2)
    // Each node knows the key, and has a slice.
    const assumedBefore = await assumedUnits(nodes.all)
    const before = await fire(nodes.all, customer, { perSecond: 20, seconds: 0.5 })
    const assumed = (await assumedUnits(nodes.all)) - assumedBefore
    wire.cut()
    const shots = await fire(nodes.all, customer, { perSecond: 50, seconds: 30 })
    wire.mend()
    await backAgain()
    report('R06', shots)
    expect(maxPerMinute([...before, ...shots])).toBeLessThanOrEqual(limit + assumed)
  }, 90_000)
})
