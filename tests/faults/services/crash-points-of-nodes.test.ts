import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { eventually } from '../../../server/testing/eventually'
import { createObservations, startLoad } from './client-load'
import { expectFired, expectNothingLost } from './crashes'
import { startNodes, type Nodes } from '../../harness/nodes'
import { expectSoundLedger } from '../../harness/ledger-oracle'
import {
  accountOf,
  findBooked,
  waitUntilBooked,
  outputPrice,
  priceOf,
  requestIdOf,
} from '../../harness/ledger'
import type { Customer } from '../../harness/server'

setDefaultTimeout(480_000)

const granted = 1_000_000_000_000n
let nodes: Nodes

beforeAll(async () => {
  nodes = await startNodes(2, { LOG_LEVEL: 'error' })
})
afterAll(() => nodes[Symbol.asyncDispose]())

const newCustomers = (count: number): Promise<Customer[]> =>
  Promise.all(Array.from({ length: count }, () => nodes.customer(granted)))

test('C02: killed at recall-received: its holds are released when it is back', async () => {
  const chatRequest = { name: 'chunks-50', max_tokens: 1000 }
  const worst = (await nodes.floorOf(chatRequest)) + 744n * outputPrice
  // Node 0 leases the whole balance.
  const customer = await nodes.customer(3n * worst)
  await nodes.at(0).stop()
  await nodes.restart(0, { CRASH_AT: 'recall-received' })
  // One after the other would leave some of it to node 1.
  const begun = [1, 2, 3].map(() =>
    nodes.chat(nodes.at(0), customer, { ...chatRequest, name: 'held-50' }),
  )
  await eventually(() => nodes.upstream.heldCount() === begun.length)
  nodes.upstream.release()
  const held = await Promise.all(begun)
  expect(held.map(({ status }) => status)).toEqual([200, 200, 200])
  const other = nodes.chat(nodes.at(1), customer, chatRequest)
  await expectFired(nodes.at(0), 'recall-received')
  // Nothing was returned.
  expect((await other).status).toBe(402)
  await nodes.restart(0)
  // A start waits 5 s at most for its recovery, which ends by freeing the leases.
  await eventually(async () => (await accountOf(nodes.sql, customer)).leased === 0n)
  expect((await nodes.chat(nodes.at(1), customer, chatRequest)).status).toBe(200)
  await waitUntilBooked(nodes.sql, 4)
  expect((await accountOf(nodes.sql, customer)).posted).toBe(3n * worst - 4n * priceOf(2, 50))
  await expectSoundLedger(nodes.sql)
})

const statesOf = async (customers: readonly Customer[]): Promise<string[]> => {
  const rows: { state: string }[] = await nodes.sql`
    select distinct state from credit_lease
    where account_id in ${nodes.sql(customers.map(({ userId }) => userId))}`
  return rows.map(({ state }) => state)
}

/** Creates customers with leases of a node that never comes back, overdue by a minute. */
async function findUnfinished(): Promise<Customer[]> {
  const left = await newCustomers(3)
  const gone = await nodes.restart(2)
  const requestIds: string[] = []
  for (const customer of left) {
    const answer = await nodes.chat(gone, customer, { name: 'chunks-5' })
    expect(answer.status).toBe(200)
    requestIds.push(requestIdOf(answer))
  }
  await findBooked(nodes.sql, requestIds)
  await gone.stop('SIGKILL')
  await nodes.sql`
    update credit_lease set expires_at = now() - interval '61 seconds'
    where account_id in ${nodes.sql(left.map(({ userId }) => userId))}`
  return left
}

test('C02: killed at renew-mid, and at sweep-mid: its next start or another node frees the remaining leases', async () => {
  const model = await nodes.model('chunks-12-gap-10')
  const customers = await newCustomers(6)
  const left = await findUnfinished()
  await nodes.at(0).stop()
  await nodes.at(1).stop()
  await nodes.restart(1, { CRASH_AT: 'sweep-mid' })
  // Killed and started again before it has watched overdue leases for a minute, so that it does not sweep first.
  await nodes.restart(0, { CRASH_AT: 'renew-mid' })
  const witness = createObservations()
  const load = startLoad(() => nodes.at(0), { customers, models: [[model, 12]] }, witness)
  await expectFired(nodes.at(0), 'renew-mid')
  await load.stop()
  expect(witness.completed.length).toBeGreaterThan(customers.length)
  // No other node runs that could sweep first.
  await expectFired(nodes.at(1), 'sweep-mid', 150_000)
  expect(await statesOf(left)).toEqual(['active'])
  await nodes.restart(0)
  await eventually(async () => !(await statesOf(left)).includes('active'), 150_000)
  expect(await statesOf(left)).toEqual(['swept'])
  for (const customer of left) {
    expect(await accountOf(nodes.sql, customer)).toEqual({
      posted: granted - priceOf(2, 5),
      leased: 0n,
    })
  }
  await expectNothingLost(nodes, customers, witness)
  await nodes.restart(1)
  await waitUntilBooked(nodes.sql, nodes.upstream.requests().length)
  await expectSoundLedger(nodes.sql, { attempts: nodes.upstream.requests().length })
})
