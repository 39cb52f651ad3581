import { afterEach, beforeEach, describe, expect, setDefaultTimeout, test } from 'bun:test'
import { eventually, untilPast } from '../../../server/testing/eventually'
import { recordFigure } from '../../../server/testing/figures'
import { hasEachBooked } from './booked'
import { createObservations, sendObserved, startLoad, type LoadObservations } from './client-load'
import { startNodes, type Nodes } from '../../harness/nodes'
import { expectSoundLedger } from '../../harness/ledger-oracle'
import { waitUntilBooked } from '../../harness/ledger'
import type { Customer } from '../../harness/server'

/** Duration of the outage; shorter by `AWAY_SECONDS=8 npm run test:faults database-outage`. */
const awaySeconds = Number(process.env['AWAY_SECONDS'] ?? 30)

setDefaultTimeout(120_000 + 4000 * awaySeconds)

let nodes: Nodes

beforeEach(async () => {
  // What is held is open until the database is back, however long its start takes.
  nodes = await startNodes(2, { LOG_LEVEL: 'error', IDLE_TIMEOUT_SECONDS: '300' })
})
afterEach(() => nodes[Symbol.asyncDispose]())

const granted = 1_000_000_000_000n
const models = async (): Promise<[string, number][]> => [
  [await nodes.model('chunks-5'), 5],
  [await nodes.model('chunks-12-gap-10'), 12],
]
const newCustomers = (count: number): Promise<Customer[]> =>
  Promise.all(Array.from({ length: count }, () => nodes.customer(granted)))

/** A node whose booking failed retries after at most 5 s. */
async function waitForBacklog(requests: number): Promise<void> {
  const goneMs = await eventually(async () => {
    const [row] = await nodes.sql`select count(*) as count from usage_event`
    return Number(row.count) >= requests
  }, 60_000)
  console.log(`the backlog is gone after ${goneMs.toFixed(0)} ms`)
  recordFigure('D01: a backlog is booked after', goneMs, { unit: 'ms', atMost: 30_000 })
}

/** Checks that finished requests are booked once and exactly, and that nothing else failed. */
async function expectExact(witness: LoadObservations): Promise<void> {
  const attempts = nodes.upstream.requests().length
  await waitForBacklog(attempts)
  await waitUntilBooked(nodes.sql, attempts)
  const [row] = await nodes.sql`
    select count(*) as events, count(distinct request_id) as requests,
      count(*) filter (where state = 'orphan') as orphans from usage_event`
  expect(Number(row.events)).toBe(Number(row.requests))
  expect(Number(row.orphans)).toBe(0)
  await expectSoundLedger(nodes.sql, { completed: witness.completed, attempts })
  for (const { recorder } of nodes.all) recorder.verify()
}

/** Measures rejections of accounts without a lease on this node, and checks their errors. */
async function refusals(strangers: readonly Customer[], name: string) {
  const answers = await Promise.all(
    strangers.map((customer) => nodes.chat(nodes.at(0), customer, { name })),
  )
  for (const { status, error, headers } of answers) {
    expect([status, error.code]).toEqual([503, 'gateway_unavailable'])
    expect(Number(headers.get('retry-after'))).toBeGreaterThanOrEqual(1)
  }
  return Math.max(...answers.map(({ tookMs }) => tookMs))
}

/** Begins a request of each customer on node 0, whose answers wait for `release`; resolves with its end. */
async function beginHeld(customers: readonly Customer[], witness: LoadObservations) {
  const model = await nodes.model('held-5')
  const begun = customers.map((customer) =>
    sendObserved(nodes.at(0), { customer, model, tokens: 5, stream: true }, witness),
  )
  await eventually(() => nodes.upstream.heldCount() === begun.length)
  return () => {
    nodes.upstream.release()
    return Promise.all(begun)
  }
}

/**
 * Tells whether each lease was taken or renewed within the last three seconds, of the 60 that it lasts: one that is renewed
 * after 15 s would be used for 30 s of an outage, which the requests at its end need.
 */
async function areLeasesFresh(customers: readonly Customer[]): Promise<boolean> {
  const [{ stale }] = await nodes.sql`
    select count(*) as stale from credit_lease where state = 'active'
      and expires_at < now() + interval '57 seconds'
      and account_id in ${nodes.sql(customers.map(({ userId }) => userId))}`
  return Number(stale) === 0
}

/**
 * Runs an outage: requests on a lease continue, those without one are rejected. A lease is used for 45 s without the
 * database: requests begin until it comes back, and run until it is back, however long a slow machine needs for that.
 */
async function outage(begin: () => Promise<() => Promise<void>>) {
  const [known, strangers] = [await newCustomers(6), await newCustomers(5)]
  const served = await models()
  await nodes.model('held-5')
  // Their keys are cached here, but they have no lease: they have sent no paid request.
  await nodes.model('free', { is_free: true, pricing: null, upstream_model: 'ok' })
  for (const customer of strangers) {
    const { status } = await nodes.chat(nodes.at(0), customer, { name: 'free' })
    expect(status).toBe(200)
  }
  const witness = createObservations()
  const load = startLoad(() => nodes.at(0), { customers: known, models: served }, witness)
  await eventually(() => hasEachBooked(nodes.sql, known))
  await eventually(() => areLeasesFresh(known), 60_000)
  const before = witness.completed.length
  const end = await begin()
  const endsAtMs = Date.now() + awaySeconds * 1000
  const refusedMs = await refusals(strangers, 'chunks-5')
  await untilPast(endsAtMs)
  const during = witness.completed.length - before
  // Those of a lease still begin and end.
  await eventually(() => witness.completed.length - before > during + 2 * known.length)
  const release = await beginHeld(known, witness)
  await load.stop()
  await end()
  const normalMs = await eventually(async () => {
    const [stranger] = strangers
    if (!stranger) throw new Error('there are no strangers')
    return (await nodes.chat(nodes.at(0), stranger, { name: 'chunks-5' })).status === 200
  })
  await release()
  const later = startLoad(() => nodes.at(0), { customers: known, models: served }, witness)
  const { length } = witness.completed
  await eventually(() => witness.completed.length > length + 2 * known.length)
  await later.stop()
  return { witness, during, refusedMs, normalMs }
}

interface Bounds {
  refusedMs: number
  normalMs: number
}

function report(name: string, found: Awaited<ReturnType<typeof outage>>, bounds: Bounds) {
  console.log(
    `${name}: ${found.during} finished while away, refused after ${found.refusedMs.toFixed(0)} ms at most, ` +
      `normal ${found.normalMs.toFixed(0)} ms after; ${found.witness.broken} broken`,
  )
  recordFigure(
    `${name}: requests of a lease while the database is away`,
    found.during / awaySeconds,
    {
      unit: 'requests/s',
      atLeast: 10,
    },
  )
  recordFigure(`${name}: requests without a lease are rejected after`, found.refusedMs, {
    unit: 'ms',
    atMost: bounds.refusedMs,
  })
  recordFigure(`${name}: requests without a lease are admitted again after`, found.normalMs, {
    unit: 'ms',
    atMost: bounds.normalMs,
  })
}

describe(`the database is unreachable for ${awaySeconds} s`, () => {
  test('D01: stopped: requests covered by a lease continue, others receive 503; all is booked afterwards', async () => {
    const found = await outage(async () => {
      await nodes.postgres.kill()
      return () => nodes.postgres.restart()
    })
    report('D01', found, { refusedMs: 600, normalMs: 5000 })
    expect(found.witness.broken).toBe(0)
    await expectExact(found.witness)
  })

  test('D02: frozen: requests covered by a lease continue, others receive 503; normal soon after', async () => {
    const found = await outage(async () => {
      const frozen = await nodes.postgres.freeze()
      return async () => frozen[Symbol.dispose]()
    })
    report('D02', found, { refusedMs: 1500, normalMs: 3000 })
    expect(found.witness.broken).toBe(0)
    await expectExact(found.witness)
  })
})

test('C05: killed repeatedly while usage is booked: committed usage exists, once', async () => {
  const customers = await newCustomers(8)
  const witness = createObservations()
  const load = startLoad(() => nodes.at(0), { customers, models: await models() }, witness)
  await eventually(() => hasEachBooked(nodes.sql, customers))
  let slowestMs = 0
  for (let kill = 0; kill < 8; kill++) {
    const finished = witness.completed.length + Math.floor(Math.random() * 60)
    await eventually(() => witness.completed.length > finished)
    await nodes.postgres.kill()
    await nodes.postgres.restart()
    const [{ count }] = await nodes.sql`select count(*) as count from usage_event`
    const bookedMs = await eventually(async () => {
      const [now] = await nodes.sql`select count(*) as count from usage_event`
      return now.count !== count
    })
    slowestMs = Math.max(slowestMs, bookedMs)
  }
  await load.stop()
  console.log(
    `C05: 8 kills, ${witness.completed.length} finished, ${witness.broken} broken; booked again after ${slowestMs.toFixed(0)} ms`,
  )
  recordFigure('C05: usage is booked again after', slowestMs, { unit: 'ms', atMost: 10_000 })
  await expectExact(witness)
})
