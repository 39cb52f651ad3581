import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { SQL } from 'bun'
import { balanceOf, checkout, paidBy, sessionOf, transactionsOf } from './fixture'
import { eventually, eventuallyReads } from '../../../server/testing/eventually'
import { startStripeDouble, type StripeDouble } from './stripe-double'
import { deliver } from './stripe-events'
import {
  freeze,
  openDatabase,
  postgresPid,
  startTwoNodes,
  type TwoNodes,
} from '../../harness/database'
import { sendRequest, messages } from '../../harness/http'
import { expectSoundLedger } from '../../harness/ledger-oracle'

let double: StripeDouble
let nodes: TwoNodes
let sql: SQL & AsyncDisposable

beforeAll(async () => {
  double = startStripeDouble()
  nodes = await startTwoNodes({ environment: paidBy(double), database: 'embedded' })
  sql = await openDatabase(nodes.a.dataDir)
  // It costs more than nothing.
  await nodes.a.admin('POST', '/models', {
    id: 'sandbox/priced',
    name: 'Priced',
    upstream_model: 'echo',
    category: 'chat',
    pricing: { input: 100, output: 400 },
  })
})
afterAll(async () => {
  nodes.a.recorder.verify()
  nodes.b.recorder.verify()
  await expectSoundLedger(sql)
  await sql[Symbol.asyncDispose]()
  await nodes[Symbol.asyncDispose]()
  await double[Symbol.asyncDispose]()
})

/** Has a new customer buy for 5 dollars, ask once by way of node A, and get all back by way of node B. */
async function refunded() {
  const { a, b } = nodes
  const customer = await newCustomer()
  const { completed, paymentRef } = double.pay(
    sessionOf(await checkout(a, customer, { amount: 5 })),
  )
  await deliver(a.url, completed)
  const body = { model: 'sandbox/priced', messages, max_tokens: 5 }
  const answer = await sendRequest(a, { key: customer.key, body })
  expect(answer.status).toBe(200)
  // Booked, so that what is set aside is idle.
  await eventually(async () => (await transactionsOf(b, customer, '?type=usage')).length === 1)
  await deliver(b.url, double.refund(paymentRef, 500))
  const cost = Number(answer.headers.get('x-tollgate-cost'))
  return { customer, cost, balance: await balanceOf(b, customer) }
}

const newCustomer = () => nodes.a.customer({ permissions: ['admin'] }, { credit: 0 })

test('W01 W02: two events of one payment, twenty times at once on two nodes, are one credit', async () => {
  const { a, b } = nodes
  const customer = await newCustomer()
  const { completed, succeeded } = double.pay(sessionOf(await checkout(b, customer, { amount: 9 })))
  const answers = await Promise.all(
    Array.from({ length: 20 }, (_, index) =>
      deliver((index % 2 ? a : b).url, index % 4 < 2 ? completed : succeeded),
    ),
  )
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200))
  expect(await balanceOf(a, customer)).toMatchObject({ balance: 9 })
  expect(await transactionsOf(b, customer)).toHaveLength(1)
})

test('M32: a purchase on one node is visible on the other', async () => {
  const { a, b } = nodes
  const customer = await newCustomer()
  const body = { model: 'sandbox/priced', messages, max_tokens: 5 }
  const chat = async () => (await sendRequest(a, { key: customer.key, body })).status
  await eventually(async () => (await chat()) === 402)
  const { completed } = double.pay(sessionOf(await checkout(a, customer, { amount: 5 })))
  await deliver(b.url, completed)
  await eventually(async () => (await chat()) === 200)
})

test('a refund takes back a node’s unused lease', async () => {
  // A node that does not return it within the second that a refund waits leaves some of it: the machine is slow.
  const { customer, cost, balance } = await eventuallyReads(
    refunded,
    ({ balance: { balance: left } }) => left === 0,
  )
  expect(balance).toMatchObject({
    balance: 0,
    held: 0,
    payment_method_required: true,
  })
  const rows: { debt: string }[] = await sql`
    select -sum(amount) as debt from ledger_entry
    where account_id = ${`house:debt:${customer.userId}`}`
  expect(Number(rows[0]?.debt)).toBe(Math.round(cost * 1e9))
})

test('an account that recharges by itself is charged by one of the nodes', async () => {
  // The later rounds charge later accounts, and the first one no more.
  for (let round = 1; round <= 4; round++) {
    const customer = await newCustomer()
    await sql`
      update users set auto_recharge_enabled = true, auto_recharge_threshold = 5000000000,
        auto_recharge_amount = 20000000000, payment_customer_id = ${`cus_${round}`},
        payment_method_id = ${`pm_${round}`}
      where id = ${customer.userId}`
    await eventually(async () => (await balanceOf(nodes.b, customer))['balance'] === 20)
  }
  const charged = double.calls.filter(({ path }) => path === '/v1/payment_intents')
  expect(charged.map(({ form }) => form.get('payment_method'))).toEqual([
    'pm_1',
    'pm_2',
    'pm_3',
    'pm_4',
  ])
})

test('W06: while the database is away events are not acknowledged; sent again, they count once', async () => {
  const { a, b } = nodes
  const customer = await newCustomer()
  const { completed } = double.pay(sessionOf(await checkout(a, customer, { amount: 3 })))
  const frozen = await freeze(await postgresPid(a.dataDir))
  const lost = await Promise.all([deliver(a.url, completed), deliver(b.url, completed)])
  frozen[Symbol.dispose]()
  expect(lost.map(({ status }) => status)).toEqual([500, 500])
  const again = async () => (await deliver(b.url, completed)).status
  await eventually(async () => (await again()) === 200)
  await eventually(async () => (await again()) === 200)
  expect(await balanceOf(a, customer)).toMatchObject({ balance: 3 })
})
