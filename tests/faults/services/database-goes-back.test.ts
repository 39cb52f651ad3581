import { afterEach, expect, setDefaultTimeout, test } from 'bun:test'
import { createObservations, startLoad, type LoadObservations } from './client-load'
import { eventually } from '../../../server/testing/eventually'
import { findViolations } from '../../../server/src/ledger/audit'
import { Database } from '../../../server/src/platform/db/database'
import { waitUntilBooked } from '../../harness/ledger'
import { expectSoundLedger } from '../../harness/ledger-oracle'
import { startNodes, type Nodes } from '../../harness/nodes'
import type { Customer } from '../../harness/server'

setDefaultTimeout(300_000)

let nodes: Nodes
let models: [string, number][]
let customers: Customer[]
/** Those who send nothing before the snapshot: the database forgets that they ever had a lease. */
let newcomers: Customer[]

const granted = 1_000_000_000_000n
const newCustomers = (count: number) =>
  Promise.all(Array.from({ length: count }, () => nodes.customer(granted)))

afterEach(() => nodes[Symbol.asyncDispose]())

async function open(count: number, environment: Record<string, string> = {}): Promise<void> {
  nodes = await startNodes(count, { LOG_LEVEL: 'error', ...environment })
  models = [
    [await nodes.model('chunks-5'), 5],
    [await nodes.model('chunks-12-gap-10'), 12],
  ]
  customers = await newCustomers(4)
  newcomers = await newCustomers(2)
}

/** The numbers of the nodes. */
const indices = () => [...nodes.all.keys()]

async function bookedIds(): Promise<Set<string>> {
  const rows: { id: string }[] = await nodes.sql`select id from usage_event`
  return new Set(rows.map(({ id }) => id))
}

const startLoads = (all: readonly Customer[], witness: LoadObservations) =>
  indices().map((index) => startLoad(() => nodes.at(index), { customers: all, models }, witness))

/**
 * Serves requests on all nodes, and takes the database back to the middle of them while no node reaches it. Resolves with the
 * events that it had confirmed and lost.
 */
async function loseBookings(witness: LoadObservations) {
  const loads = startLoads(customers, witness)
  await eventually(async () => (await bookedIds()).size > 60)
  await nodes.postgres.takeSnapshot()
  loads.push(...startLoads(newcomers, witness))
  const before = await bookedIds()
  await eventually(async () => (await bookedIds()).size > before.size + 100)
  for (const index of indices()) nodes.wireOf(index).cut()
  const confirmed = await bookedIds()
  await nodes.postgres.goBack()
  const kept = await bookedIds()
  return { loads, lost: [...confirmed].filter((id) => !kept.has(id)) }
}

/** Checks that everything answered is booked once and exactly, and that nothing was written off. */
async function expectNothingLost(
  witness: LoadObservations,
  lost: readonly string[],
): Promise<void> {
  await eventually(async () => {
    const booked = await bookedIds()
    return lost.every((id) => booked.has(id))
  })
  await waitUntilBooked(nodes.sql, witness.completed.length)
  await expectSoundLedger(nodes.sql, { completed: witness.completed })
  const [row] = await nodes.sql`
    select count(*) as events, count(distinct request_id) as requests from usage_event`
  expect(row.events).toBe(row.requests)
  for (const { userId } of [...customers, ...newcomers]) {
    const [account] = await nodes.sql`
      select posted, (select coalesce(sum(cost), 0) from usage_event where account_id = ${userId}) as cost
      from credit_account where id = ${userId}`
    expect(BigInt(account.posted) + BigInt(account.cost)).toBe(granted)
  }
  const address = { connectionString: nodes.postgres.url }
  await using database = new Database(address, { poolSize: 1, onError: () => undefined })
  expect(await findViolations(database.query, {})).toEqual([])
}

/** Runs on after the database went back, and checks that nothing is lost. */
async function runOn(): Promise<void> {
  const witness = createObservations()
  const { loads, lost } = await loseBookings(witness)
  expect(lost.length).toBeGreaterThan(60)
  for (const index of indices()) nodes.wireOf(index).mend()
  const answered = witness.completed.length
  await eventually(() => witness.completed.length > answered + 100)
  await Promise.all(loads.map((load) => load.stop()))
  await expectNothingLost(witness, lost)
}

test('finding M21: D16: a database that goes back receives again its confirmed bookings, from both nodes, once', async () => {
  await open(2)
  await runOn()
})

test('finding M21: D16: a node with workers, whose launcher books, recovers as well', async () => {
  await open(1, { WORKERS: '2', DATABASE_POOL_SIZE: '3' })
  await runOn()
})

test('finding M21: D16: a node killed before it notices books the lost usage at its next start', async () => {
  await open(2)
  const witness = createObservations()
  const { loads, lost } = await loseBookings(witness)
  expect(lost.length).toBeGreaterThan(60)
  await Promise.all(indices().map((index) => nodes.at(index).stop('SIGKILL')))
  await Promise.all(loads.map((load) => load.stop()))
  for (const index of indices()) nodes.wireOf(index).mend()
  await Promise.all(indices().map((index) => nodes.restart(index)))
  await expectNothingLost(witness, lost)
})
