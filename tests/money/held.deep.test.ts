import { afterAll, beforeAll, expect, test } from 'bun:test'
import { expectSoundLedger } from '../harness/ledger-oracle'
import {
  accountOf,
  waitUntilBooked,
  reportedCost,
  nanosOf,
  startBilling,
  type Billing,
} from '../harness/ledger'
import { call } from '../harness/byok'
import { eventually } from '../../server/testing/eventually'
import type { Customer } from '../harness/server'

let billing: Billing

beforeAll(async () => {
  billing = await startBilling({ environment: { LOG_LEVEL: 'warn' } })
  const rates = { api_requests_per_minute: 1_000_000 }
  await billing.rig.gateway.admin('PUT', '/config', { rates })
})
afterAll(async () => {
  const attempts = billing.rig.upstream.requests().length
  await waitUntilBooked(billing.sql, attempts)
  billing.rig.gateway.recorder.verify()
  await expectSoundLedger(billing.sql, { attempts })
  await billing[Symbol.asyncDispose]()
})

async function balanceOf(customer: Customer) {
  const { body } = await call(billing.rig.gateway, customer, 'GET /billing/balance')
  const { balance, held, available_balance: available, low_balance: isLow } = body
  return { balance: nanosOf(balance), held: nanosOf(held), available: nanosOf(available), isLow }
}

const usd = 1_000_000_000n

test('20 $ in use stay near 20 $ and are never low, with any leases of nodes', async () => {
  // One answer may cost 5 $ at most: the node sets aside all there is.
  const name = 'chunks-5'
  await billing.rig.model(name, { pricing: { input: 1, output: 1300 } })
  const granted = 20n * usd
  const customer = await billing.customer(granted)
  let cost = 0n
  for (let time = 0; time < 5; time++) {
    const answer = await billing.chat(customer, name)
    expect(answer.status).toBe(200)
    cost += reportedCost(answer)
    const { available, isLow } = await balanceOf(customer)
    expect(isLow).toBe(false)
    // A slow machine may have told of the last one.
    expect(available).toBeGreaterThan(14n * usd)
  }
  await waitUntilBooked(billing.sql, billing.rig.upstream.requests().length)
  await eventually(async () => (await balanceOf(customer)).held === 0n)
  const { leased } = await accountOf(billing.sql, customer)
  expect(leased).toBeGreaterThan(19n * usd)
  const left = granted - cost
  const inOrder = { balance: left, held: 0n, available: left, isLow: false }
  await eventually(async () => Bun.deepEquals(await balanceOf(customer), inOrder))
})

test('the hold of a long stream is held back while it runs, and not afterwards', async () => {
  const name = 'held-250'
  const granted = 2n * usd
  const fields = { stream: true, max_tokens: 256 }
  const worst = await billing.floorOf(name, fields)
  const customer = await billing.customer(granted)
  const running = billing.stream(customer, name, fields)
  await eventually(async () => {
    const { balance, held, available } = await balanceOf(customer)
    return balance === granted && held === worst && available === granted - worst
  })
  billing.rig.upstream.release()
  expect(await running).toMatchObject({ status: 200, isDone: true })
  await eventually(async () => (await balanceOf(customer)).held === 0n)
  await eventually(async () => (await accountOf(billing.sql, customer)).posted < granted)
  const { posted, leased } = await accountOf(billing.sql, customer)
  expect(leased).toBeGreaterThan(0n)
  const inOrder = { balance: posted, held: 0n, available: posted, isLow: false }
  expect(await balanceOf(customer)).toEqual(inOrder)
})
