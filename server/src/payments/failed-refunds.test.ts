import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import * as fc from '../../testing/property'
import { apply } from './apply-fact'
import type { Fact } from './fact'
import {
  dollar,
  dropsOf,
  paidOf,
  refundOf,
  reversalOf,
  applyToReference,
} from '../../testing/payments/reference-orders'
import { Orders } from '../../testing/payments/orders'
import { newId, generateIdBody } from '../platform/db/id'

let orders: Orders

beforeAll(async () => {
  orders = await Orders.open()
})
afterAll(() => orders[Symbol.asyncDispose]())
beforeEach(() => orders.newAccount())

const take = (event: object) => orders.take(event)
const order = () => orders.order()
const account = () => orders.account()
const lease = (leaseId: string, need: bigint) => orders.lease(leaseId, need)

const cents = fc.integer({ min: 1, max: 5000 }).map((value) => BigInt(value) * 10_000_000n)

/** Refunds of the first payment, one after the other; some fail at some time after they were made. */
const history = fc.array(fc.record({ cents, hasFailed: fc.boolean() }), { maxLength: 6 })

interface Telling {
  /** Whether the processor reports each, or only those that failed. */
  isEach: boolean
  /** Whether the sum of a charge has those that failed before. */
  isGross: boolean
}

/** All reports about refunds: each, its failure, and the sum after each. */
function toldOf(refunds: readonly { cents: bigint; hasFailed: boolean }[], how: Telling): Fact[] {
  const facts: Fact[] = [paidOf(0)]
  let total = 0n
  for (const [number, { cents: amount, hasFailed }] of refunds.entries()) {
    const one = { number, amount, hasFailed: false }
    if (how.isEach) facts.push(refundOf(0, one))
    total += amount
    facts.push(reversalOf('refund_0', total))
    if (!hasFailed) continue
    facts.push(refundOf(0, { ...one, hasFailed }))
    if (!how.isGross) total -= amount
  }
  return facts
}

test.each<[string, Telling]>([
  ['each is reported, and sums include the failure', { isEach: true, isGross: true }],
  ['each is reported, and sums do not include the failure', { isEach: true, isGross: false }],
  ['sums and failures are reported', { isEach: false, isGross: true }],
])(
  'failed refunds are given back once, in any order and reported twice: %s',
  async (_name, how) => {
    await fc.assert(
      fc.asyncProperty(history, fc.nat(), async (refunds, seed) => {
        const facts = toldOf(refunds, how)
        const model = await applyToReference([...facts, ...facts].toSorted(dropsOf(seed)))
        const good = refunds.filter(({ hasFailed }) => !hasFailed)
        const sum = good.reduce((total, one) => total + one.cents, 0n)
        const taken = sum < 10n * dollar ? sum : 10n * dollar
        return model.balance - model.debt === 10n * dollar - taken && model.lowest >= 0n
      }),
      { numRuns: 1000 },
    )
  },
)

test('cancels the debt of a refund that failed', async () => {
  const model = await applyToReference([paidOf(0)])
  model.spend(7n * dollar)
  const refund = { number: 0, amount: 10n * dollar, hasFailed: false }
  await apply(model.book, refundOf(0, refund))
  expect([model.balance, model.debt]).toEqual([0n, 7n * dollar])
  for (const _time of [1, 2]) {
    await apply(model.book, refundOf(0, { ...refund, hasFailed: true }))
    expect([model.balance, model.debt]).toEqual([3n * dollar, 0n])
  }
})

test('gives a failed refund back once, for any number and order of reports', async () => {
  const { completed, refunded, refund } = await order()
  const failed = { status: 'failed' }
  const all = [
    completed(),
    refunded(400),
    refund('refund.created', { status: 'pending' }),
    refund('refund.updated', { status: 'succeeded' }),
    refund('refund.failed', failed),
    refund('charge.refund.updated', failed),
    // Another one in its place, of another amount.
    refunded(700),
    refund('refund.created', { id: `re_${generateIdBody()}`, amount: 300 }),
  ]
  await Promise.all([...all, ...all].toSorted(() => Math.random() - 0.5).map(take))
  expect(await account()).toMatchObject({ posted: 7n * dollar, debt: 0n })
})

test('the same sum is taken, given back and taken again', async () => {
  const { completed, refunded, refund } = await order()
  await take(completed())
  for (const id of [`re_${generateIdBody()}`, `re_${generateIdBody()}`]) {
    await take(refund('refund.created', { id, status: 'succeeded' }))
    expect((await account()).posted).toBe(6n * dollar)
    await take(refund('refund.failed', { id, status: 'failed' }))
    expect((await account()).posted).toBe(10n * dollar)
  }
  // The late report of the charge has both.
  await take(refunded(800))
  expect((await account()).posted).toBe(10n * dollar)
})

test('a failed refund pays its debt, and the account is served again', async () => {
  const { completed, refund } = await order()
  await take(completed())
  await lease(newId('lease'), 8n * dollar)
  await take(refund('refund.created', { status: 'succeeded' }))
  expect(await account()).toMatchObject({ posted: 8n * dollar, debt: 2n * dollar, flag: true })
  await take(refund('refund.failed', { status: 'failed' }))
  expect(await account()).toMatchObject({ posted: 10n * dollar, debt: 0n, flag: false })
})
