import type { Json } from '../../harness/http'

/** The lists that there are, and of what. */
const lists: Readonly<Record<string, string>> = {
  '/v1/payment_intents': 'payment_intent',
  '/v1/refunds': 'refund',
  '/v1/disputes': 'dispute',
}

/**
 * A page of a list as Stripe has them, newest first; undefined for other paths.
 * @see https://docs.stripe.com/api/pagination
 */
export function listIn(
  objects: readonly Json[],
  path: string,
  query: ReadonlyMap<string, string>,
): Json | undefined {
  const of = lists[path]
  if (of === undefined) return undefined
  const from = Number(query.get('created[gte]') ?? 0)
  const until = Number(query.get('created[lte]') ?? Infinity)
  const payment = query.get('payment_intent')
  // Of the same second, the last to be made comes first.
  const all = objects.toReversed().filter((one) => {
    const created = Number(one['created'])
    const isOfPayment = payment === undefined || one['payment_intent'] === payment
    return one['object'] === of && created >= from && created <= until && isOfPayment
  })
  const after = query.get('starting_after')
  const start = after === undefined ? 0 : all.findIndex(({ id }) => id === after) + 1
  const limit = Math.min(Number(query.get('limit') ?? 10), 100)
  const data = all.slice(start, start + limit)
  return { object: 'list', url: path, has_more: start + limit < all.length, data }
}
