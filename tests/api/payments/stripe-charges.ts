import type { Json } from '../../harness/http'

/** The charge of a payment, with its receipt. */
export const chargeOf = (paymentRef: string) => ({
  id: `ch_${paymentRef}`,
  object: 'charge',
  receipt_url: `https://pay.simulated.example/receipts/${paymentRef}`,
})

/** As Stripe answers: a reference is an id, or the object where the request expands it. */
export function withExpanded(found: Json, expanded: string | undefined): Json {
  const charge = found['latest_charge']
  if (expanded === 'latest_charge' || typeof charge !== 'object' || charge === null) return found
  return { ...found, latest_charge: Reflect.get(charge, 'id') }
}
