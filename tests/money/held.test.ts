import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import { expectSoundLedger } from './ledger-oracle'
import { accountOf, allBooked, nanosOf, openTill, type Till } from './till'
import { call } from '../connections/stage'
import { eventually } from '../payments/stage'
import type { Customer } from '../rig'

setDefaultTimeout(60_000)

let till: Till

beforeAll(async () => {
  till = await openTill({ environment: { LOG_LEVEL: 'warn' } })
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

test('a balance holds back what runs, and not what a node has set aside for more', async () => {
  const name = 'chunks-250-gap-20'
  const granted = 1_100_000_000n
  const fields = { stream: true, max_tokens: 256 }
  const worst = await till.floorOf(name, fields)
  const customer = await till.customer(granted)
  const running = till.stream(customer, name, fields)
  await eventually(async () => {
    const { balance, held, available } = await balanceOf(customer)
    return balance === granted && held === worst && available === granted - worst
  })
  expect(await running).toMatchObject({ status: 200, isDone: true })
  await allBooked(till.sql)
  await eventually(async () => (await balanceOf(customer)).held === 0n)
  const { posted, leased } = await accountOf(till.sql, customer)
  expect(leased).toBeGreaterThan(0n)
  expect(await balanceOf(customer)).toEqual({
    balance: posted,
    held: 0n,
    available: posted,
    isLow: false,
  })
})
