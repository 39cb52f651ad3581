import { expect, test } from 'bun:test'
import { usePaidFixture } from './paid-fixture'
import { balanceOf, buy, checkout, sessionOf } from './fixture'
import { eventually } from '../../../server/testing/eventually'
import { deliver } from './stripe-events'
import type { Customer } from '../../harness/server'

/** W12, q9: what the processor lists is compared with what the ledger has. */

const fixture = usePaidFixture({ PAYMENT_COMPARISON_SECONDS: '0.2' })

const dollar = 1_000_000_000
/** Long enough for whatever is to be told to have been told. */
const settled = 7200

/** How often the list of payments was begun. */
const runs = () =>
  fixture().double.calls.filter(
    ({ path, form }) => path === '/v1/payment_intents' && form.has('limit') && isFirst(form),
  ).length
const isFirst = (form: Map<string, string>) => !form.has('starting_after')

/** Resolves when a comparison has begun and ended from now on. */
async function compared(): Promise<void> {
  const before = runs()
  await eventually(async () => runs() >= before + 3)
}

async function findings(): Promise<unknown[][]> {
  const rows: { payment_ref: string; kind: string; claimed: string; booked: string }[] =
    await fixture()
      .sql`select payment_ref, kind, claimed, booked from payment_finding order by payment_ref`
  return rows.map((row) => [row.payment_ref, row.kind, Number(row.claimed), Number(row.booked)])
}

/** What the log has of findings. */
const warnings = () =>
  fixture()
    .gateway.output()
    .split('\n')
    .filter((line) => line.includes('the ledger differs'))

async function inboxOf(userId: string): Promise<string[]> {
  const rows: { body: string }[] = await fixture().sql`
    select body from notification where user_id = ${userId} order by id`
  return rows.map(({ body }) => body)
}

const bought = (customer: Customer, cents: number) =>
  buy(fixture(), customer, { amount: cents / 100 })

test('equal lists are not a finding, with any refunds, disputes or failures', async () => {
  const { gateway, double } = fixture()
  const customer = await fixture().newCustomer()
  const payments = []
  for (const cents of [1000, 2000, 3000, 4000]) payments.push(await bought(customer, cents))
  const [refunded = '', disputed = '', both = '', failed = ''] = payments
  await deliver(gateway.url, double.refund(refunded, 250))
  await deliver(gateway.url, double.refund(refunded, 250))
  await deliver(gateway.url, double.dispute(disputed, 2000, 'lost'))
  await deliver(gateway.url, double.dispute(refunded, 500, 'won'))
  // More than was paid: the ledger takes back what was paid.
  await deliver(gateway.url, double.refund(both, 2000))
  await deliver(gateway.url, double.dispute(both, 3000, 'lost'))
  await deliver(gateway.url, double.refund(failed, 4000))
  expect((await balanceOf(gateway, customer))['balance']).toBe(5)
  await deliver(gateway.url, double.failRefund(failed))
  expect((await balanceOf(gateway, customer))['balance']).toBe(45)
  double.age(settled)
  await compared()
  expect(await findings()).toEqual([])
})

test('sales of others by the same account, and very recent ones, are not a finding', async () => {
  const { double } = fixture()
  double.sell(500)
  double.age(settled)
  const customer = await fixture().newCustomer()
  const fresh = double.pay(sessionOf(await checkout(fixture().gateway, customer, { amount: 5 })))
  await compared()
  expect(await findings()).toEqual([])
  await deliver(fixture().gateway.url, fresh.completed)
  await compared()
  expect(await findings()).toEqual([])
})

const byRef = (one: unknown[], other: unknown[]) => (String(one[0]) < String(other[0]) ? -1 : 1)

test('W12: one missing, one extra and one altered are three findings, each reported once', async () => {
  const { gateway, double } = fixture()
  const customer = await fixture().newCustomer()
  const operator = await fixture().newCustomer()
  await fixture().sql`update users set is_operator = true where id = ${operator.userId}`
  // On the last of three pages, as it is older than all these.
  const missing = double.pay(sessionOf(await checkout(gateway, customer, { amount: 7 })))
  for (let count = 0; count < 230; count++) double.sell(100)
  const extra = await bought(customer, 500)
  const altered = await bought(customer, 900)
  double.age(settled)
  await eventually(async () => (await findings()).length > 0)
  await compared()
  const missed = [missing.paymentRef, 'payment', 7 * dollar, 0]
  expect(await findings()).toEqual([missed])
  double.forget(extra)
  Object.assign(double.session(altered), { amount_received: 901 })
  await eventually(async () => (await findings()).length >= 3)
  await compared()
  const all = [
    missed,
    [extra, 'payment', 0, 5 * dollar],
    [altered, 'payment', 9.01 * dollar, 9 * dollar],
  ]
  expect((await findings()).toSorted(byRef)).toEqual(all.toSorted(byRef))
  // Lines of the log go out together, a little later.
  await eventually(() => warnings().length >= 3)
  const lines = warnings()
  expect(lines).toHaveLength(3)
  for (const [ref, words] of [
    [missing.paymentRef, 'payment missing'],
    [extra, 'payment extra'],
    [altered, 'payment altered'],
  ] as const) {
    expect(lines.filter((line) => line.includes(ref) && line.includes(words))).toHaveLength(1)
  }
  const inbox = (await inboxOf(operator.userId)).join(' ')
  for (const [ref] of all) expect(inbox.split(String(ref))).toHaveLength(2)
  expect(await inboxOf(customer.userId)).toEqual([])
  const pages = double.calls.filter(({ path, form }) => {
    return path === '/v1/payment_intents' && form.get('limit') !== undefined && !isFirst(form)
  })
  expect(new Set(pages.map(({ form }) => form.get('limit')))).toEqual(new Set(['100']))
  expect(pages.length).toBeGreaterThanOrEqual(2)
})

test('finds a refund, a failed refund and a dispute without events', async () => {
  const { gateway, double } = fixture()
  const customer = await fixture().newCustomer()
  const known = (await findings()).length
  const [one, other, third] = [
    await bought(customer, 1000),
    await bought(customer, 2000),
    await bought(customer, 3000),
  ]
  double.refund(one, 300)
  double.dispute(other, 2000, 'lost')
  await deliver(gateway.url, double.refund(third, 3000))
  double.failRefund(third)
  double.age(settled)
  await eventually(async () => (await findings()).length >= known + 3)
  expect(await findings()).toEqual(
    expect.arrayContaining([
      [one, 'refund', 3 * dollar, 0],
      [other, 'dispute', 20 * dollar, 0],
      [third, 'refund', 0, 30 * dollar],
    ]),
  )
  expect(await findings()).toHaveLength(known + 3)
})

test('retries a processor that does not answer, without a finding', async () => {
  const { double } = fixture()
  const before = { findings: await findings(), lines: (await findings()).length }
  await eventually(async () => warnings().length === before.lines)
  double.faults.push('refuse')
  await eventually(async () =>
    fixture().gateway.output().includes('payments could not be compared'),
  )
  await fixture().sql`update payment_comparison set ran_at = now() - interval '1 day'`
  await compared()
  expect([await findings(), warnings().length]).toEqual([before.findings, before.lines])
})
