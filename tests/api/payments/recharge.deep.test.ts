import { expect, test } from 'bun:test'
import { usePaidFixture } from './paid-fixture'
import type { SQL } from 'bun'
import { rm } from 'node:fs/promises'
import { balanceOf, checkout, paidBy, sessionOf, transactionsOf, type PaidFixture } from './fixture'
import { eventually } from '../../../server/testing/eventually'
import { startStripeDouble } from './stripe-double'
import { deliver } from './stripe-events'
import { openDatabase } from '../../harness/database'
import { newDataDir, startGateway, type Customer, type Gateway } from '../../harness/server'

const fixture = usePaidFixture()

const dollar = 1_000_000_000

/** Has an account charge `method` for 20 dollars whenever it has less than 5. */
const recharging = (on: SQL, { userId }: Customer, method: string) => on`
  update users set auto_recharge_enabled = true, auto_recharge_threshold = ${5 * dollar},
    auto_recharge_amount = ${20 * dollar}, payment_customer_id = ${`cus_${method}`},
    payment_method_id = ${method}
  where id = ${userId}`

/** The names under which the double was asked to charge a method. */
const chargesOf = ({ double }: Pick<PaidFixture, 'double'>, method: string) =>
  double.calls.filter(({ form }) => form.get('payment_method') === method).map(({ key }) => key)

const has = (customer: Customer, balance: number) => async () =>
  (await balanceOf(fixture().gateway, customer))['balance'] === balance

/** Resolves after two rounds of the job: the last account was charged, and every one that was due before. */
async function rounds(
  gateway: Gateway = fixture().gateway,
  on: SQL = fixture().sql,
): Promise<void> {
  for (let round = 0; round < 2; round++) {
    const last = await gateway.customer({}, { credit: 0 })
    await recharging(on, last, 'pm_of_the_last')
    await eventually(async () => (await balanceOf(gateway, last))['balance'] === 20)
  }
}

test('an account below its threshold is charged once an hour, and not before', async () => {
  const customer = await fixture().newCustomer()
  await recharging(fixture().sql, customer, 'pm_good')
  await eventually(has(customer, 20))
  expect(await transactionsOf(fixture().gateway, customer)).toMatchObject([
    { type: 'purchase', status: 'completed', amount: 20, balance_after: 20 },
  ])
  // Below it again.
  const spending = { user_id: customer.userId, amount: -18, reason: 'Spent' }
  await fixture().gateway.admin('POST', '/credits/adjust', spending)
  await rounds()
  expect(chargesOf(fixture(), 'pm_good')).toHaveLength(1)
  await fixture().sql`update payment set created_at = created_at - interval '61 minutes'
    where account_id = ${customer.userId}`
  await eventually(has(customer, 22))
  expect(new Set(chargesOf(fixture(), 'pm_good')).size).toBe(2)
  const { form } =
    fixture().double.calls.findLast(({ path }) => path === '/v1/payment_intents') ?? {}
  expect(Object.fromEntries(form ?? [])).toMatchObject({
    amount: '2000',
    currency: 'usd',
    customer: 'cus_pm_good',
    confirm: 'true',
    off_session: 'true',
  })
})

test('does not recharge with enough balance, without the setting or without a saved card', async () => {
  const [rich, unwilling, without] = [
    await fixture().gateway.customer({}, { credit: 5 }),
    await fixture().newCustomer(),
    await fixture().newCustomer(),
  ]
  // In one transaction: the job may run between two statements.
  await fixture().sql.begin(async (sql) => {
    for (const one of [rich, unwilling, without]) await recharging(sql, one, 'pm_idle')
    await sql`update users set auto_recharge_enabled = false where id = ${unwilling.userId}`
    await sql`update users set payment_method_id = null where id = ${without.userId}`
  })
  await rounds()
  expect(await balanceOf(fixture().gateway, rich)).toMatchObject({ balance: 5 })
  expect(await balanceOf(fixture().gateway, unwilling)).toMatchObject({ balance: 0 })
  expect(await balanceOf(fixture().gateway, without)).toMatchObject({ balance: 0 })
})

test('set-aside credit still counts, running holds may end: only the latter cause a charge', async () => {
  const { sql } = fixture()
  const customer = await fixture().gateway.customer({}, { credit: 6 })
  const { userId } = customer
  await sql`update credit_account set leased = ${3 * dollar} where id = ${userId}`
  await sql`
    insert into credit_lease (id, account_id, node_id, amount, expires_at)
    values ('lease_of_a_test', ${userId}, 'node', ${3 * dollar}, now() + interval '1 hour')`
  await recharging(sql, customer, 'pm_of_leases')
  await rounds()
  expect(chargesOf(fixture(), 'pm_of_leases')).toEqual([])
  await sql`insert into credit_held values ('lease_of_a_test', ${2 * dollar})`
  await eventually(has(customer, 26))
  await sql`delete from credit_held where lease_id = 'lease_of_a_test'`
  await sql`delete from credit_lease where id = 'lease_of_a_test'`
  await sql`update credit_account set leased = 0 where id = ${userId}`
})

test('a declined charge notifies the customer to pay, and is not retried', async () => {
  const customer = await fixture().newCustomer()
  fixture().double.methods.set('pm_bad', 'declined')
  await recharging(fixture().sql, customer, 'pm_bad')
  await eventually(
    async () => (await balanceOf(fixture().gateway, customer))['payment_method_required'] === true,
  )
  expect(await transactionsOf(fixture().gateway, customer)).toMatchObject([
    { type: 'purchase', status: 'failed', amount: 20, description: 'Automatic recharge' },
  ])
  const notifications: { title: string; kind: string }[] = await fixture().sql`
    select title, kind from notification where user_id = ${customer.userId}`
  expect(notifications).toEqual([{ title: 'Automatic recharge failed', kind: 'system' }])
  const mails: { recipient: string }[] = await fixture().sql`
    select recipient from mail where subject = 'Automatic recharge failed'`
  expect(mails).toHaveLength(1)
  await fixture().sql`update payment set created_at = created_at - interval '61 minutes'
    where account_id = ${customer.userId}`
  await rounds()
  expect(chargesOf(fixture(), 'pm_bad')).toHaveLength(1)
  // Buying lifts it.
  const session = sessionOf(await checkout(fixture().gateway, customer, { amount: 6 }))
  await deliver(fixture().gateway.url, fixture().double.pay(session).completed)
  expect(await balanceOf(fixture().gateway, customer)).toMatchObject({
    balance: 6,
    payment_method_required: false,
  })
})

test('a charge whose answer is lost is retried under the same name: one charge', async () => {
  const customer = await fixture().newCustomer()
  // The client's own repeats, and the first of a later round.
  fixture().double.faults.push('drop', 'drop', 'drop')
  await recharging(fixture().sql, customer, 'pm_lost')
  await eventually(has(customer, 20))
  await rounds()
  expect(new Set(chargesOf(fixture(), 'pm_lost')).size).toBe(1)
  expect(await balanceOf(fixture().gateway, customer)).toMatchObject({ balance: 20 })
})

test('a slow bank is not charged twice; its event is the credit', async () => {
  const { gateway, double } = fixture()
  const customer = await fixture().newCustomer()
  double.methods.set('pm_slow', 'slow')
  await recharging(fixture().sql, customer, 'pm_slow')
  await eventually(async () => chargesOf(fixture(), 'pm_slow').length === 1)
  await rounds()
  const rows: { payment_ref: string; id: string }[] = await fixture().sql`
    select payment_ref, id from payment where account_id = ${customer.userId}`
  expect(rows).toHaveLength(1)
  expect(await balanceOf(gateway, customer)).toMatchObject({ balance: 0 })
  const [row] = rows
  const event = double.event('payment_intent.succeeded', {
    id: row?.payment_ref,
    amount_received: 2000,
    currency: 'usd',
    metadata: { tollgate_payment: row?.id },
  })
  for (let times = 0; times < 3; times++) await deliver(gateway.url, event)
  expect(await balanceOf(gateway, customer)).toMatchObject({ balance: 20 })
})

test('a checkout’s payment method is saved for recharges if the customer chose so', async () => {
  const { gateway, double } = fixture()
  const customer = await fixture().newCustomer()
  const order = { amount: 1, save_payment_method: true }
  const session = sessionOf(await checkout(gateway, customer, order))
  const { form } = double.calls.at(-1) ?? {}
  expect(form?.get('payment_intent_data[setup_future_usage]')).toBe('off_session')
  expect(form?.get('customer_creation')).toBe('always')
  const { completed, paymentRef } = double.pay(session)
  await deliver(gateway.url, completed)
  const saved = async () => {
    const rows: { customer: string | null; method: string | null }[] = await fixture().sql`
      select payment_customer_id as customer, payment_method_id as method
      from users where id = ${customer.userId}`
    return rows[0]
  }
  await eventually(async () => (await saved())?.method !== null)
  const intent = double.session(paymentRef)
  expect(await saved()).toEqual({
    customer: String(intent['customer']),
    method: String(intent['payment_method']),
  })
  // The next checkout is of the same customer.
  await checkout(gateway, customer, { amount: 1 })
  expect(double.calls.at(-1)?.form.get('customer')).toBe(String(intent['customer']))
})

test('a process that dies as it charges leaves one charge, which the next one books', async () => {
  await using double = startStripeDouble()
  const dataDir = await newDataDir()
  try {
    const gateway = await startGateway({ dataDir, database: 'shared', environment: paidBy(double) })
    const customer = await gateway.customer({}, { credit: 0 })
    // All repeats of the client library and of the job as well.
    double.faults.push(...Array.from({ length: 60 }, () => 'drop' as const))
    await using before = await openDatabase(dataDir)
    await recharging(before, customer, 'pm_dying')
    await eventually(async () => chargesOf({ double }, 'pm_dying').length > 0)
    await gateway.stop('SIGKILL')
    double.faults.length = 0
    await using next = await startGateway({
      dataDir,
      database: 'shared',
      environment: paidBy(double),
    })
    await eventually(async () => (await balanceOf(next, customer))['balance'] === 20)
    await using after = await openDatabase(dataDir)
    await rounds(next, after)
    expect(await balanceOf(next, customer)).toMatchObject({ balance: 20 })
    expect(new Set(chargesOf({ double }, 'pm_dying')).size).toBe(1)
    // Two of them are those of the rounds.
    expect([...double.books.values()]).toEqual([2000, 2000, 2000])
  } finally {
    await rm(dataDir, { recursive: true, force: true })
  }
})
