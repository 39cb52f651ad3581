import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { expectSoundLedger } from './ledger-oracle'
import { accountOf, allBooked, costTold, nanosOf, openTill, type Till } from './till'
import { call } from '../connections/stage'
import { eventually } from '../payments/stage'
import type { Customer } from '../rig'

setDefaultTimeout(60_000)

let till: Till

beforeAll(async () => {
  till = await openTill({ environment: { LOG_LEVEL: 'warn' } })
  const rates = { api_requests_per_minute: 1_000_000 }
  await till.rig.gateway.admin('PUT', '/config', { rates })
})
afterAll(async () => {
  await allBooked(till.sql)
  till.rig.gateway.recorder.verify()
  await expectSoundLedger(till.sql)
  await till[Symbol.asyncDispose]()
})

async function balanceOf(customer: Customer) {
  const { body } = await call(till.rig.gateway, customer, 'GET /billing/balance')
  const { balance, held, available_balance: available, low_balance: isLow } = body
  return { balance: nanosOf(balance), held: nanosOf(held), available: nanosOf(available), isLow }
}

const usd = 1_000_000_000n

test('20 $ in use stay near 20 $ and are never low, whatever nodes have set aside', async () => {
  // One answer may cost 5 $ at most: the node sets aside all there is.
  const name = 'chunks-5'
  await till.rig.model(name, { pricing: { input: 1, output: 1300 } })
  const granted = 20n * usd
  const customer = await till.customer(granted)
  let cost = 0n
  for (let asked = 0; asked < 5; asked++) {
    const answer = await till.chat(customer, name)
    expect(answer.status).toBe(200)
    cost += costTold(answer)
    const { available, isLow } = await balanceOf(customer)
    expect(isLow).toBe(false)
    // A slow machine may have told of the last one.
    expect(available).toBeGreaterThan(14n * usd)
  }
  await allBooked(till.sql)
  await eventually(async () => (await balanceOf(customer)).held === 0n)
  const { leased } = await accountOf(till.sql, customer)
  expect(leased).toBeGreaterThan(19n * usd)
  const left = granted - cost
  const inOrder = { balance: left, held: 0n, available: left, isLow: false }
  expect(await balanceOf(customer)).toEqual(inOrder)
})

test('what a long stream holds is held back while it runs, and not afterwards', async () => {
  const name = 'chunks-250-gap-60'
  const granted = 2n * usd
  const fields = { stream: true, max_tokens: 256 }
  const worst = await till.floorOf(name, fields)
  const customer = await till.customer(granted)
  const running = till.stream(customer, name, fields)
  await eventually(async () => {
    const { balance, held, available } = await balanceOf(customer)
    return balance === granted && held === worst && available === granted - worst
  })
  expect(await running).toMatchObject({ status: 200, isDone: true })
  await eventually(async () => (await balanceOf(customer)).held === 0n)
  await allBooked(till.sql)
  const { posted, leased } = await accountOf(till.sql, customer)
  expect(leased).toBeGreaterThan(0n)
  const inOrder = { balance: posted, held: 0n, available: posted, isLow: false }
  expect(await balanceOf(customer)).toEqual(inOrder)
})
