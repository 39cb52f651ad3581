import { expect, test } from 'bun:test'
import * as fc from '../../testing/property'
import { apply } from './apply-fact'
import type { Fact, PaidFact } from './fact'
import {
  dollar,
  dropsOf,
  ReferencePayments,
  paidOf,
  refundOf,
  reversalOf,
  applyToReference,
} from '../../testing/payments/reference-orders'

const cents = fc.integer({ min: 1, max: 5000 }).map((value) => BigInt(value) * 10_000_000n)
const which = fc.integer({ min: 0, max: 2 })

/** All that the processor may tell of three payments of ten dollars. */
const fact: fc.Arbitrary<Fact> = fc.oneof(
  which.map((index): Fact => paidOf(index)),
  which.map((index): Fact => ({ ...paidOf(index), sessionId: `session_${index}` })),
  which.map((index): Fact => ({ ...paidOf(index), tax: BigInt(index) * dollar })),
  fc
    .record({ type: fc.constantFrom('failed' as const, 'expired' as const), index: which })
    .map(({ type, index }): Fact => {
      return { type, id: `cs_${index}`, sessionId: undefined, reason: undefined }
    }),
  fc
    .record({ index: which, kind: fc.constantFrom('refund' as const, 'dispute' as const), cents })
    .map(({ index, kind, cents: amount }): Fact => {
      const paymentRef = `pi_${index}`
      const reversalId = `${kind}_${index}`
      return { type: 'reversed', kind, reversalId, paymentRef, amount, currency: 'usd' }
    }),
  fc
    .record({ index: which, number: which, hasFailed: fc.boolean() })
    .map(({ index, number, hasFailed }) =>
      refundOf(index, { number, amount: BigInt(number + 1) * dollar, hasFailed }),
    ),
)

const summary = ({ payments, balance, debt, recorded, taxes }: ReferencePayments) => ({
  taxes: payments.map(({ id }) => taxes.get(id)),
  statuses: payments.map(({ status }) => status),
  net: balance - debt,
  reversed: payments.map(({ paymentRef }) =>
    recorded
      .filter((one) => one.paymentRef === paymentRef)
      .reduce((total, { booked }) => total + booked, 0n),
  ),
})

test('W02 W05: each payment is credited once, refunds never exceed it, no balance is below zero', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fact, { maxLength: 30 }), async (facts) => {
      const model = await applyToReference(facts)
      const isOnce = new Set(model.credits).size === model.credits.length
      const isWithin = model.payments.every(
        ({ amount, paymentRef }) => model.reversed(paymentRef ?? '') <= amount,
      )
      return isOnce && isWithin && model.lowest >= 0n && model.balance >= 0n && model.debt >= 0n
    }),
    { numRuns: 2000 },
  )
})

test('W01 W05: the same facts in another order, and twice, lead to the same result', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fact, { maxLength: 20 }), fc.nat(), async (facts, seed) => {
      const others = [...facts, ...facts].toSorted(dropsOf(seed))
      return Bun.deepEquals(
        summary(await applyToReference(others)),
        summary(await applyToReference(facts)),
      )
    }),
    { numRuns: 1000 },
  )
})

test('a tax changes no credit, and is kept for any order of events', async () => {
  for (const facts of [
    [paidOf(0), { ...paidOf(0), tax: dollar }],
    [{ ...paidOf(0), tax: dollar }, paidOf(0)],
  ]) {
    const model = await applyToReference(facts)
    expect([model.balance, model.taxes.get('cs_0')]).toEqual([10n * dollar, dollar])
  }
})

test('M33: an amount that is already spent becomes a debt, which the next payment pays first', async () => {
  const model = await applyToReference([paidOf(0)])
  model.spend(7n * dollar)
  await apply(model.book, reversalOf('ch_1', 10n * dollar))
  expect([model.balance, model.debt]).toEqual([0n, 7n * dollar])
  await apply(model.book, paidOf(1))
  expect([model.balance, model.debt]).toEqual([3n * dollar, 0n])
})

test.each<[string, Partial<PaidFact>]>([
  ['another amount', { amount: 10n * dollar - 1n }],
  ['far too much', { amount: 10n ** 21n }],
  ['nothing', { amount: 0n }],
  ['another currency', { currency: 'jpy' }],
  ['an order that is not known', { id: 'cs_9' }],
])('W09: reports a payment of %s without booking it', async (_name, changed) => {
  const model = new ReferencePayments([10n * dollar])
  const outcome = await apply(model.book, { ...paidOf(0), ...changed })
  expect(outcome.type).toBe('mismatch')
  expect([model.balance, model.payments[0]?.status]).toEqual([0n, 'pending'])
})

test('W09: another checkout, or a second payment, does not pay for an order', async () => {
  const model = new ReferencePayments([10n * dollar])
  const [payment] = model.payments
  if (payment) payment.sessionId = 'session_0'
  const outcome = await apply(model.book, { ...paidOf(0), sessionId: 'session_other' })
  expect(outcome.type).toBe('mismatch')
  await apply(model.book, paidOf(0))
  const second = await apply(model.book, { ...paidOf(0), paymentRef: 'pi_other' })
  expect([second.type, model.balance]).toEqual(['mismatch', 10n * dollar])
})

test('ignores events of other systems', async () => {
  const model = new ReferencePayments([10n * dollar])
  const foreign = { ...paidOf(0), id: undefined, sessionId: 'session_foreign', paymentRef: 'pi_x' }
  expect(await apply(model.book, foreign)).toEqual({ type: 'nothing' })
  expect((await apply(model.book, reversalOf('ch_1', dollar, 'eur'))).type).toBe('mismatch')
  expect([model.balance, model.debt]).toEqual([0n, 0n])
})
