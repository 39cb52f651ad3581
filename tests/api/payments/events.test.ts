import { expect, test } from 'bun:test'
import { usePaidFixture } from './paid-fixture'
import { balanceOf, buy, checkout, paidBy, sessionOf, transactionsOf } from './fixture'
import { eventually } from '../../../server/testing/eventually'
import { startStripeDouble } from './stripe-double'
import { deliver, signatureOf, webhookSecret } from './stripe-events'
import { openDatabase } from '../../harness/database'
import { sendRequest, messages, type Json } from '../../harness/http'
import { startGateway, type Customer } from '../../harness/server'

const fixture = usePaidFixture()

/** A checkout of a new customer, and the event that says it is paid. */
async function paid(amount = 5) {
  const customer = await fixture().newCustomer()
  const session = sessionOf(await checkout(fixture().gateway, customer, { amount }))
  return { customer, session, ...fixture().double.pay(session) }
}

const balance = async (customer: Customer) =>
  (await balanceOf(fixture().gateway, customer))['balance']

const isJson = (value: unknown): value is Json => typeof value === 'object' && value !== null

const issueOf = ({ status, body: { error } }: Awaited<ReturnType<typeof deliver>>) => {
  const details = isJson(error) && isJson(error['details']) ? error['details'] : {}
  return [status, details['issue']]
}

const seconds = () => Math.floor(Date.now() / 1000)

test('W01: one event twenty times at once is one credit', async () => {
  const { customer, completed } = await paid()
  const answers = await Promise.all(
    Array.from({ length: 20 }, () => deliver(fixture().gateway.url, completed)),
  )
  expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: 20 }, () => 200))
  expect(await balance(customer)).toBe(5)
})

test('W04: an old event is rejected, a fresh one counts once', async () => {
  const { customer, completed } = await paid()
  const old = await deliver(fixture().gateway.url, completed, { at: seconds() - 301 })
  expect(issueOf(old)).toEqual([400, 'bad_signature'])
  expect(await balance(customer)).toBe(0)
  for (const ago of [200, 100, 0]) {
    expect((await deliver(fixture().gateway.url, completed, { at: seconds() - ago })).status).toBe(
      200,
    )
  }
  expect(await balance(customer)).toBe(5)
})

test('W08: forged events are rejected and move nothing', async () => {
  const { customer, completed } = await paid()
  const body = JSON.stringify(completed)
  const good = signatureOf(body)
  const forged = [
    deliver(fixture().gateway.url, completed, { secret: 'whsec_of_somebody_else' }),
    deliver(fixture().gateway.url, completed, { secret: '' }),
    deliver(fixture().gateway.url, completed, { signature: '' }),
    deliver(fixture().gateway.url, completed, { signature: good.replace('v1=', 'v0=') }),
    deliver(fixture().gateway.url, completed, { signature: good.slice(0, -1) }),
    deliver(fixture().gateway.url, completed, { signature: `t=${seconds()}` }),
    // The same event in other bytes, and other bytes altogether.
    deliver(fixture().gateway.url, JSON.stringify(completed, null, 1), { signature: good }),
    deliver(fixture().gateway.url, `${body} `, { signature: good }),
    deliver(fixture().gateway.url, '{}', { signature: good }),
  ]
  for (const answer of await Promise.all(forged)) {
    expect(issueOf(answer)).toEqual([400, 'bad_signature'])
  }
  expect(await balance(customer)).toBe(0)
})

test('W08: an event of real money, or of another account, is not for a key of test money', async () => {
  const { customer, completed } = await paid()
  const real = await deliver(fixture().gateway.url, { ...completed, livemode: true })
  const foreign = await deliver(fixture().gateway.url, { ...completed, account: 'acct_1' })
  expect([issueOf(real), issueOf(foreign)]).toEqual([
    [400, 'not_allowed'],
    [400, 'not_allowed'],
  ])
  expect(await balance(customer)).toBe(0)
})

test('W07: while secrets change, both hold', async () => {
  await using double = startStripeDouble()
  await using gateway = await startGateway({
    environment: { ...paidBy(double), STRIPE_WEBHOOK_SECRET: `whsec_new_secret,${webhookSecret}` },
  })
  const event = double.event('customer.created', {})
  for (const [secret, status] of [
    ['whsec_new_secret', 200],
    [webhookSecret, 200],
    ['whsec_older_one', 400],
  ] as const) {
    expect((await deliver(gateway.url, event, { secret })).status).toBe(status)
  }
  gateway.recorder.verify()
})

test('an event of more than a megabyte is not read', async () => {
  const event = fixture().double.event('customer.created', { text: 'a'.repeat(1024 * 1024) })
  expect(issueOf(await deliver(fixture().gateway.url, event))).toEqual([400, 'body_too_large'])
})

test('W02 W05: events in any order credit a payment once and complete its checkout', async () => {
  const { gateway, double } = fixture()
  const { customer, session, succeeded, completed } = await paid()
  for (const event of [double.expire(session), succeeded, completed, double.expire(session)]) {
    expect((await deliver(gateway.url, event)).status).toBe(200)
  }
  expect(await balance(customer)).toBe(5)
  expect(await transactionsOf(gateway, customer)).toMatchObject([{ status: 'completed' }])
})

test('an unpaid checkout expires, a failed payment has that status', async () => {
  const { gateway, double } = fixture()
  const customer = await fixture().newCustomer()
  const first = sessionOf(await checkout(gateway, customer, { amount: 5 }))
  const second = sessionOf(await checkout(gateway, customer, { amount: 6 }))
  await deliver(gateway.url, double.expire(first))
  const failed = 'checkout.session.async_payment_failed'
  await deliver(gateway.url, double.event(failed, double.session(second)))
  expect(await transactionsOf(gateway, customer)).toMatchObject([
    { amount: 6, status: 'failed', type: 'purchase', balance_after: null },
    { amount: 5, status: 'expired', type: 'purchase', balance_after: null },
  ])
  expect(await transactionsOf(gateway, customer, '?status=expired')).toHaveLength(1)
  expect(await balance(customer)).toBe(0)
})

test('W10: refunds and a lost dispute are seen as such, and never take more than was paid', async () => {
  const { gateway, double } = fixture()
  const customer = await fixture().newCustomer()
  const payment = await buy(fixture(), customer, { amount: 10 })
  await deliver(gateway.url, double.refund(payment, 300))
  expect(await balance(customer)).toBe(7)
  await deliver(gateway.url, double.dispute(payment, 1000, 'won'))
  expect(await balance(customer)).toBe(7)
  await deliver(gateway.url, double.dispute(payment, 1000, 'lost'))
  const refunds = await transactionsOf(gateway, customer, '?type=refund')
  expect(refunds).toMatchObject([
    { amount: -7, balance_after: 0, description: 'Payment disputed' },
    { amount: -3, balance_after: 7, description: 'Payment refunded' },
  ])
  expect(new Set(refunds.map((one: Json) => one['reference_id'])).size).toBe(1)
  expect(await balanceOf(gateway, customer)).toMatchObject({ payment_method_required: false })
})

test('M33: a refund of spent credit stops paid requests, until a purchase covers it', async () => {
  const { gateway, double } = fixture()
  const customer = await fixture().newCustomer()
  const payment = await buy(fixture(), customer, { amount: 10 })
  await gateway.admin('POST', '/credits/adjust', {
    user_id: customer.userId,
    amount: -6,
    reason: 'Spent',
  })
  await deliver(gateway.url, double.refund(payment, 1000))
  expect(await balanceOf(gateway, customer)).toMatchObject({
    balance: 0,
    payment_method_required: true,
  })
  await gateway.admin('POST', '/models', {
    id: 'sandbox/priced',
    name: 'Priced',
    upstream_model: 'echo',
    category: 'chat',
    pricing: { input: 1, output: 1 },
  })
  const body = { model: 'sandbox/priced', messages, max_tokens: 5 }
  await eventually(async () => {
    const { status, error } = await sendRequest(gateway, { key: customer.key, body })
    return status === 402 && error.code === 'payment_required'
  })
  await buy(fixture(), customer, { amount: 8 })
  expect(await balanceOf(gateway, customer)).toMatchObject({
    balance: 2,
    payment_method_required: false,
  })
  await eventually(
    async () => (await sendRequest(gateway, { key: customer.key, body })).status === 200,
  )
  expect(await transactionsOf(gateway, customer, '?type=refund')).toMatchObject([
    { amount: -6, balance_after: 2 },
    { amount: -4, balance_after: 0 },
  ])
})

test('I9: the ledger’s payments and refunds match the processor’s, item by item', async () => {
  const { gateway, double } = fixture()
  const earlier = new Set(double.books.keys())
  const customer = await fixture().newCustomer()
  const first = await buy(fixture(), customer, { amount: 10 })
  const second = await buy(fixture(), customer, { amount: 3.21 })
  const third = await buy(fixture(), customer, { amount: 100 })
  await deliver(gateway.url, double.refund(first, 1))
  await deliver(gateway.url, double.refund(second, 321))
  await deliver(gateway.url, double.dispute(third, 10_000, 'lost'))
  const believed = [...double.books].filter(([ref]) => !earlier.has(ref))
  await using sql = await openDatabase(gateway.dataDir)
  const rows: { ref: string; cents: number }[] = await sql`
    select split_part(x.external_ref, ':', 1) as ref, (-sum(e.amount) / 10000000)::int as cents
    from ledger_transaction x join ledger_entry e on e.transaction_id = x.id
    where x.kind in ('topup', 'refund', 'dispute') and e.account_id = 'house:topup'
    group by 1`
  const booked = new Map(rows.map(({ ref, cents }) => [ref, cents]))
  expect(believed).toHaveLength(6)
  expect(believed.map(([ref]) => [ref, booked.get(ref)])).toEqual(believed)
})
