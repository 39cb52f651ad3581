import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { recordTimeFigure } from '../../../server/testing/figures'
import { startNodes, type ChatRequest, type Nodes } from '../../harness/nodes'
import { sendRaw, messages } from '../../harness/http'
import { eventually } from '../../../server/testing/eventually'
import { expectSoundLedger } from '../../harness/ledger-oracle'
import { accountOf, waitUntilBooked, findBooked, priceOf, requestIdOf } from '../../harness/ledger'
import type { Customer } from '../../harness/server'

setDefaultTimeout(360_000)

let nodes: Nodes
let writtenOff = 0n

beforeAll(async () => {
  // What stalls is open until its node is killed, however long the test takes to begin all of it.
  nodes = await startNodes(4, { IDLE_TIMEOUT_SECONDS: '300' })
})
afterAll(async () => {
  const attempts = nodes.upstream.requests().length
  await waitUntilBooked(nodes.sql, attempts)
  await expectSoundLedger(nodes.sql, { attempts, writtenOff })
  await nodes[Symbol.asyncDispose]()
})

const orphans = async () => {
  const [row] = await nodes.sql`
    select count(*) as count, coalesce(sum(cost), 0) as cost from usage_event where state = 'orphan'`
  return { count: Number(row.count), cost: BigInt(row.cost) }
}

test('M22 a: a node that dies with 500 holds on 50 accounts releases them when it restarts', async () => {
  const model = await nodes.model('stall-after-3')
  const customers = await Promise.all(
    Array.from({ length: 50 }, () => nodes.customer(1_000_000_000n)),
  )
  const body = { model, messages, stream: true, max_tokens: 100 }
  const clients = await Promise.all(
    customers.flatMap(({ key }) =>
      Array.from({ length: 10 }, () => sendRaw(nodes.at(0), { key, body })),
    ),
  )
  await eventually(() => nodes.upstream.requests().length >= 500)
  const leasedOf = async () => {
    const [row] = await nodes.sql`
      select count(*) filter (where leased > 0) as accounts, sum(leased) as leased
      from credit_account where id in ${nodes.sql(customers.map(({ userId }) => userId))}`
    return { accounts: Number(row.accounts), leased: BigInt(row.leased) }
  }
  expect((await leasedOf()).accounts).toBe(50)
  await nodes.at(0).stop('SIGKILL')
  const name = 'M22 a: a node with 500 open holds is ready again after'
  await recordTimeFigure(name, { atMost: 5000 }, () => nodes.restart(0))
  // A start waits 5 s at most for its recovery, which ends by freeing the leases.
  await eventually(async () => (await leasedOf()).accounts === 0).catch(() => undefined)
  expect(await leasedOf()).toEqual({ accounts: 0, leased: 0n })
  expect(await orphans()).toEqual({ count: 500, cost: 0n })
  for (const { userId } of customers.slice(0, 3)) {
    const [row] = await nodes.sql`select posted from credit_account where id = ${userId}`
    expect(BigInt(row.posted)).toBe(1_000_000_000n)
  }
  for (const client of clients) client.close()
})

const chatRequest: ChatRequest = { name: 'chunks-50', max_tokens: 1000 }
const cost = priceOf(2, 50)
const granted = 10_200_000n

interface Offline {
  customer: Customer
  /** Sends requests that the node serves from its lease while it cannot reach the database; resolves with their ids. */
  offline: () => Promise<string[]>
}

/**
 * Creates a customer for each of these nodes, whose whole balance is in its lease there: of all at the same time, as a lease
 * that is unused for half a minute is returned.
 */
async function leasedAt(indices: readonly number[]): Promise<Offline[]> {
  // Nodes that are cut off do not hear of it.
  await nodes.model(chatRequest.name)
  const held = { ...chatRequest, name: 'held-50' }
  await nodes.model(held.name)
  const places = await Promise.all(
    indices.map(async (index) => ({
      node: nodes.at(index),
      customer: await nodes.customer(granted),
    })),
  )
  // Two at once bring the whole balance into the lease.
  const begun = places.flatMap(({ node, customer }) =>
    [1, 2].map(() => nodes.chat(node, customer, held)),
  )
  await eventually(() => nodes.upstream.heldCount() === begun.length)
  nodes.upstream.release()
  const online = await Promise.all(begun)
  await findBooked(nodes.sql, online.map(requestIdOf))
  return places.map(({ node, customer }) => ({
    customer,
    offline: async () => {
      const answers = []
      for (let time = 0; time < 3; time++)
        answers.push(await nodes.chat(node, customer, chatRequest))
      for (const { status } of answers) expect(status).toBe(200)
      return answers.map(requestIdOf)
    },
  }))
}

const leaseOf = async ({ userId }: Customer) => {
  const [row] = await nodes.sql`
    select state, amount, spent from credit_lease where account_id = ${userId}
    order by created_at limit 1`
  return { state: String(row.state), amount: BigInt(row.amount), spent: BigInt(row.spent) }
}

/** Freezes a node, as suspending its machine would. */
function frozen(index: number): Disposable {
  const { pid } = nodes.at(index)
  process.kill(pid, 'SIGSTOP')
  return { [Symbol.dispose]: () => void process.kill(pid, 'SIGCONT') }
}

/** Wakes a node that slept beyond the end of its lease: its next request is paid from a new one. */
async function awake(asleep: Disposable, customer: Customer): Promise<void> {
  const before = await leaseOf(customer)
  asleep[Symbol.dispose]()
  const answers = await Promise.all(
    [1, 2].map(() => nodes.chat(nodes.at(3), customer, chatRequest)),
  )
  for (const { status } of answers) expect(status).toBe(200)
  const events = await findBooked(nodes.sql, answers.map(requestIdOf))
  expect(events).toHaveLength(2)
  expect(await leaseOf(customer)).toEqual(before)
  const rows: { lease_id: string }[] = await nodes.sql`
    select distinct lease_id from usage_event
    where request_id = any(${nodes.sql.array(answers.map(requestIdOf), 'text')})`
  const leases: { id: string }[] = await nodes.sql`
    select id from credit_lease where account_id = ${customer.userId} and state = 'swept'`
  const swept = new Set(leases.map(({ id }) => id))
  expect(rows.filter(({ lease_id }) => swept.has(lease_id))).toEqual([])
  expect(await accountOf(nodes.sql, customer)).toMatchObject({ posted: granted - 4n * cost })
}

test('M22 c M24 T03: usage booked after its lease was swept is charged once, up to the remaining balance', async () => {
  const [sleeper, rich, poor, gone] = await leasedAt([3, 1, 1, 2])
  if (!sleeper || !rich || !poor || !gone) throw new Error('there are four')
  const all = [rich, poor, gone]
  for (const index of [1, 2]) nodes.wireOf(index).cut()
  const requests: string[][] = []
  for (const { offline } of all) requests.push(await offline())
  await nodes.at(2).stop('SIGKILL')
  const before = await Promise.all(all.map(({ customer }) => leaseOf(customer)))
  // To the sweeper, a minute has passed since they should have been renewed.
  await nodes.sql`
    update credit_lease set expires_at = now() - interval '61 seconds'
    where account_id in ${nodes.sql(all.map(({ customer }) => customer.userId))}`
  // A node that runs would renew its lease.
  const asleep = frozen(3)
  await nodes.sql`
    update credit_lease set expires_at = now() - interval '61 seconds'
    where account_id = ${sleeper.customer.userId}`
  const states = async () =>
    new Set(
      (await Promise.all([...all, sleeper].map(({ customer }) => leaseOf(customer)))).map(
        (it) => it.state,
      ),
    )
  const sweptMs = await eventually(
    async () => Bun.deepEquals([...(await states())], ['swept']),
    // A sweep sees them within 10 s, watches them for a minute, and comes after 10 s again.
    180_000,
  )
  console.log(`M22 c: swept after ${(sweptMs / 1000).toFixed(0)} s`)
  await awake(asleep, sleeper.customer)
  for (const { customer } of all) {
    expect(await accountOf(nodes.sql, customer)).toEqual({
      posted: granted - 2n * cost,
      leased: 0n,
    })
  }
  // One of them has spent nearly its whole balance meanwhile.
  const left = 100_000n
  const amount = -Number(granted - 2n * cost - left) / 1e9
  const adjusted = { user_id: poor.customer.userId, amount, reason: 'test' }
  await nodes.at(0).admin('POST', '/credits/adjust', adjusted)

  for (const index of [1, 2]) nodes.wireOf(index).mend()
  await nodes.restart(2)
  for (const ids of requests) {
    // The surviving node waits up to 5 s before it retries.
    for (let tries = 0; tries < 3; tries++) await findBooked(nodes.sql, ids).catch(() => undefined)
    expect(await findBooked(nodes.sql, ids)).toHaveLength(3)
  }
  for (const { customer } of [rich, gone]) {
    const posted = granted - 5n * cost
    expect(await accountOf(nodes.sql, customer)).toMatchObject({ posted })
  }
  expect(await accountOf(nodes.sql, poor.customer)).toEqual({ posted: 0n, leased: 0n })
  writtenOff = 3n * cost - left
  const after = await Promise.all(all.map(({ customer }) => leaseOf(customer)))
  expect(after).toEqual(before.map((lease) => ({ ...lease, state: 'swept' })))
  const [sums] = await nodes.sql`
    select sum(written_off) as off from usage_event where account_id = ${poor.customer.userId}`
  expect(BigInt(sums.off)).toBe(writtenOff)
  expect(writtenOff).toBeLessThanOrEqual(before[1]?.amount ?? 0n)
  expect((await orphans()).count).toBe(500)
  console.log(`M24: written off ${writtenOff} n$ of ${before[1]?.amount} swept`)
})
