import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { recordFigure } from '../../../server/testing/figures'
import { silentAttempts, sumsOf } from './booked'
import { createObservations, startLoad } from './client-load'
import { startNodes, type Nodes } from '../../harness/nodes'
import { eventually } from '../../../server/testing/eventually'
import { expectSoundLedger } from '../../harness/ledger-oracle'
import { waitUntilBooked } from '../../harness/ledger'
import type { Customer } from '../../harness/server'

setDefaultTimeout(180_000)

let nodes: Nodes

const startNode = (): Promise<Nodes> => startNodes(1, { LOG_LEVEL: 'error' })

const newCustomers = (on: Nodes, count: number): Promise<Customer[]> =>
  Promise.all(Array.from({ length: count }, () => on.customer(1_000_000_000_000n)))

/** Returns a percentile of times. */
function percentile(times: readonly number[], part: number): number {
  const sorted = times.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN
}

const roundTripMs = 200
const maxFirstMs = 700
const customersEach = 30

// The two wait for a distant database, each for its own.
test.concurrent(`D04: a database ${roundTripMs} ms away delays a first request by little, the others not at all`, async () => {
  await using own = await startNode()
  const name = 'chunks-5'
  await own.model(name)
  const timesOf = async (customers: readonly Customer[]) => {
    const times: number[] = []
    for (const customer of customers) {
      const { status, tookMs } = await own.chat(own.at(0), customer, { name })
      expect(status).toBe(200)
      times.push(tookMs)
    }
    return times
  }
  const strangers = await newCustomers(own, customersEach)
  own.wireOf(0).delay(roundTripMs / 2)
  // The pool's connections are open when the first of these arrives.
  await timesOf(await newCustomers(own, 1))
  const first = await timesOf(strangers)
  const others = await timesOf(Array.from({ length: 8 }, () => strangers).flat())
  const [firstMs, middleMs, withinMs] = [
    percentile(first, 0.99),
    percentile(others, 0.5),
    percentile(others, 0.99),
  ]
  console.log(
    `D04: first requests p99 ${firstMs.toFixed(0)} ms; within a lease p50 ${middleMs.toFixed(1)}, p99 ${withinMs.toFixed(1)} ms`,
  )
  // The delay is effective: a request that needs the database waits for it.
  expect(Math.min(...first)).toBeGreaterThan(roundTripMs)
  recordFigure('D04: first requests, p99', firstMs, { unit: 'ms', atMost: maxFirstMs })
  // None waits for even one round trip.
  recordFigure('D04: requests within a lease, p99', withinMs, {
    unit: 'ms',
    atMost: roundTripMs / 2,
  })
  // State: within a lease a request is answered though no statement is.
  own.wireOf(0).cut()
  await timesOf(strangers)
  own.wireOf(0).mend()
})

test.concurrent('finding M22: accounts that are created at once, half a second from the database, are all created', async () => {
  await using own = await startNode()
  await own.at(0).stop()
  own.wireOf(0).delay(250)
  const { admin } = await own.restart(0)
  const creating = Array.from({ length: 30 }, (_, nth) =>
    admin('POST', '/users', { email: `far-${nth}@example.com`, display_name: 'Far' }),
  )
  const answers = await Promise.all(creating)
  expect(answers.map(({ id }) => typeof id)).toEqual(answers.map(() => 'string'))
  const readiness = await fetch(`${own.at(0).url}/readyz`)
  expect(readiness.status).toBe(200)
  own.wireOf(0).delay(0)
})

/** Waits until each request until now has an event; a node whose booking failed retries after at most 5 s. */
async function eventuallyBooked(): Promise<number> {
  const attempts = nodes.upstream.requests().length
  await eventually(async () => {
    const [{ events }] = await nodes.sql`select count(*) as events from usage_event`
    return Number(events) >= attempts
  })
  return attempts
}

describe('D15: usage is sent again because the answer to its commit was lost', () => {
  beforeEach(async () => {
    nodes = await startNode()
  })
  afterEach(() => nodes[Symbol.asyncDispose]())

  test.each([
    ['after that commit', 12, 0],
    ['while that one is still open', 6, 1500],
  ])('%s: one booking each', async (_when, times, lateMs) => {
    const customers = await newCustomers(nodes, 8)
    const free = { is_free: true, pricing: null, upstream_model: 'chunks-5' }
    const models: [string, number][] = [
      [await nodes.model('chunks-5'), 5],
      [await nodes.model('chunks-12-gap-10'), 12],
    ]
    await nodes.model('free', free)
    const witness = createObservations()
    const load = startLoad(() => nodes.at(0), { customers, models }, witness)
    const wire = nodes.wireOf(0)
    let freeOnes = 0
    for (let time = 1; time <= times; time++) {
      const [customer] = customers
      wire.loseCommit({ lateMs })
      // A statement that locks no account.
      if (customer) freeOnes += (await nodes.chat(nodes.at(0), customer, { name: 'free' })).status
      await eventually(() => wire.lostCommits() === time)
      // It is sent again half a second later, and answered this time.
      await eventuallyBooked()
    }
    await load.stop()
    await waitUntilBooked(nodes.sql, await eventuallyBooked())
    expect(freeOnes).toBe(200 * times)
    expect(witness.broken).toBe(0)
    const { events, orphans, doubled } = await sumsOf(nodes.sql, customers)
    expect([orphans, doubled]).toEqual([0, 0])
    expect(events).toBe(nodes.upstream.requests().length)
    expect(await silentAttempts(nodes, customers)).toBe(0)
    const [sums] = await nodes.sql`
      select sum(requests) as requests, sum(cost) as cost from usage_sum where grain = 'day'`
    const [booked] = await nodes.sql`select count(*) as events, sum(cost) as cost from usage_event`
    expect([sums.requests, sums.cost]).toEqual([booked.events, booked.cost])
    await expectSoundLedger(nodes.sql, { completed: witness.completed })
    console.log(`D15: ${times} commits unheard, ${events} events, ${doubled} doubled`)
  })
})
