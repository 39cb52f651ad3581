import { expect, test } from 'bun:test'
import { readTax, toFact } from './event'

/** As in https://docs.stripe.com/api/checkout/sessions/object, with the fields that are read. */
const session = {
  id: 'cs_test_1',
  client_reference_id: null,
  metadata: {},
  payment_intent: 'pi_1',
  payment_status: 'paid',
  amount_total: 2000,
  currency: 'usd',
  automatic_tax: { enabled: false, status: null },
  total_details: { amount_discount: 0, amount_shipping: 0, amount_tax: 0 },
}
const cent = 10_000_000n
const byStripe = (amount_tax: number, status = 'complete') => ({
  automatic_tax: { enabled: true, status },
  total_details: { amount_tax },
})

test.each([
  ['without Stripe Tax', {}, undefined],
  ['with Stripe Tax', byStripe(319), 319n * cent],
  ['with Stripe Tax that found none', byStripe(0), 0n],
  ['with a failed computation', byStripe(0, 'failed'), undefined],
  ['with a fixed rate at Stripe', { total_details: { amount_tax: 100 } }, 100n * cent],
  ['with more tax than it costs', byStripe(2001), undefined],
  ['of an older form', { total_details: null, automatic_tax: undefined }, undefined],
])('the tax of a checkout %s is read', (_what, changed, tax) => {
  expect(readTax({ ...session, ...changed })).toBe(tax)
})

test('a paid checkout reports its tax, and the whole amount as paid', () => {
  const object = { ...session, ...byStripe(319) }
  const fact = toFact({ id: 'evt_1', type: 'checkout.session.completed', data: { object } })
  expect(fact).toMatchObject({ type: 'paid', amount: 2000n * cent, tax: 319n * cent })
})
