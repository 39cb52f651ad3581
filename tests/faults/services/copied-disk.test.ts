import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { hasEachBooked, silentAttempts, sumsOf, waitForAttempts } from './booked'
import { createObservations, startLoad, sendObserved } from './client-load'
import { startNodes, type Nodes } from '../../harness/nodes'
import { eventually } from '../../../server/testing/eventually'
import { expectSoundLedger } from '../../harness/ledger-oracle'
import type { Customer } from '../../harness/server'

setDefaultTimeout(120_000)

let nodes: Nodes
let customers: Customer[]

beforeEach(async () => {
  nodes = await startNodes(1, { LOG_LEVEL: 'error', IDLE_TIMEOUT_SECONDS: '300' })
  customers = await Promise.all(Array.from({ length: 6 }, () => nodes.customer(1_000_000_000_000n)))
})
afterEach(() => nodes[Symbol.asyncDispose]())

/** Checks that each start has its own name, so that no two mistake each other's leases for theirs. */
async function expectOwnNames(): Promise<void> {
  const rows: { id: string; place: string }[] = await nodes.sql`
    select id, place from node order by seen_at desc limit 2`
  expect(new Set(rows.map(({ id }) => id)).size).toBe(2)
  expect(new Set(rows.map(({ place }) => place)).size).toBe(2)
}

async function expectSums(): Promise<void> {
  const [sums] = await nodes.sql`
    select sum(requests) as requests, sum(failures) as failures, sum(cost) as cost
    from usage_sum where grain = 'day'`
  const [booked] = await nodes.sql`
    select count(*) as requests, sum(cost) as cost,
      count(*) filter (where outcome not in ('ok', 'cancelled')) as failures from usage_event`
  expect([sums.requests, sums.failures, sums.cost]).toEqual([
    booked.requests,
    booked.failures,
    booked.cost,
  ])
}

test('M34: a dead node and a copy of its disk start at once: its journal is booked once', async () => {
  const models: [string, number][] = [
    [await nodes.model('chunks-5'), 5],
    [await nodes.model('chunks-12-gap-10'), 12],
  ]
  const witness = createObservations()
  const model = await nodes.model('held-5')
  const load = startLoad(() => nodes.at(0), { customers, models }, witness)
  // Open when the node is killed: it becomes an orphan.
  const open = customers
    .slice(0, 1)
    .map((customer) =>
      sendObserved(nodes.at(0), { customer, model, tokens: 5, stream: true }, witness),
    )
  await eventually(() => nodes.upstream.heldCount() === open.length)
  // Without the database only those are served that have a lease.
  await eventually(() => hasEachBooked(nodes.sql, customers))
  nodes.wireOf(0).cut()
  const cutAt = witness.completed.length
  // Requests that end now stay in the journal.
  await eventually(() => witness.completed.length > cutAt + 120)
  await nodes.at(0).stop('SIGKILL')
  await Promise.all([load.stop(), ...open])
  nodes.wireOf(0).mend()
  const before = (await sumsOf(nodes.sql, customers)).events
  await nodes.copyDisk(0, 1)
  await Promise.all([nodes.restart(0), nodes.restart(1)])
  await waitForAttempts(nodes, customers, witness.completed.length)
  await expectOwnNames()
  const { events, orphans, doubled } = await sumsOf(nodes.sql, customers)
  console.log(`M34: ${before} booked before, ${events} after both, ${orphans} of them orphans`)
  expect(events).toBeGreaterThan(before + 100)
  expect(orphans).toBeGreaterThan(0)
  expect(doubled).toBe(0)
  expect(await silentAttempts(nodes, customers)).toBe(0)
  await expectSums()
  await expectSoundLedger(nodes.sql, { completed: witness.completed })
})

test('M34 I5: a copy of a running node treats its open requests as orphans; they are charged when they end', async () => {
  const model = await nodes.model('held-100')
  const witness = createObservations()
  const running = customers.map((customer) =>
    sendObserved(nodes.at(0), { customer, model, tokens: 100, stream: true }, witness),
  )
  await eventually(() => nodes.upstream.heldCount() === customers.length)
  await nodes.copyDisk(0, 1)
  await nodes.restart(1)
  await waitForAttempts(nodes, customers, 0)
  expect(await sumsOf(nodes.sql, customers)).toMatchObject({ events: 6, orphans: 6 })
  nodes.upstream.release()
  await Promise.all(running)
  expect(witness.completed).toHaveLength(6)
  // Not before they are settled: until then the orphan is the only record.
  await waitForAttempts(nodes, customers, customers.length)
  expect(await sumsOf(nodes.sql, customers)).toMatchObject({ events: 6, settled: 6, orphans: 0 })
  await expectOwnNames()
  await expectSums()
  await expectLogs(customers)
  await expectSoundLedger(nodes.sql, { completed: witness.completed, attempts: 6 })
})

/** Checks that the logs agree with the events, and are summed once. */
async function expectLogs(customers: readonly Customer[]): Promise<void> {
  const ids = customers.map(({ userId }) => userId)
  const [logs] = await nodes.sql`
    select count(*)::int as requests, count(*) filter (where status = 'success')::int as successes,
      sum(cost)::text as cost
    from request_log where user_id in ${nodes.sql(ids)}`
  const [events] = await nodes.sql`
    select count(*)::int as requests, sum(cost)::text as cost
    from usage_event where user_id in ${nodes.sql(ids)}`
  const [sums] = await nodes.sql`
    select sum(requests)::int as requests, sum(failures)::int as failures, sum(cost)::text as cost
    from request_sum where grain = 'day' and user_id in ${nodes.sql(ids)}`
  expect(logs).toEqual({ ...events, successes: events.requests })
  expect(sums).toEqual({ ...events, failures: 0 })
}
