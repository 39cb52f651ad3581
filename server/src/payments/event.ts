import { z } from 'zod'
import { isId } from '../platform/db/id'
import type { Fact, PaidFact, UnpaidFact } from './fact'

/** The key under which the processor keeps our name of a payment. */
export const ownIdName = 'tollgate_payment'

/** A cent in nano-dollars. */
export const nanosPerCent = 10_000_000n

const metadata = z.looseObject({ [ownIdName]: z.string().optional() }).nullish()
const Id = z.string().min(1).max(255)
/** An id, or the expanded object itself. */
const IdOrObject = z.union([Id, z.looseObject({ id: Id }).transform(({ id }) => id)])
const Cents = z.int().min(0)
const Currency = z.string().transform((currency) => currency.toLowerCase())

const PaymentEvent = z.looseObject({
  id: Id,
  type: z.string(),
  livemode: z.boolean().optional(),
  /** The connected account of an event that is not about the processor's own customer. */
  account: z.string().nullish(),
  data: z.looseObject({ object: z.unknown() }),
})
export type PaymentEvent = z.output<typeof PaymentEvent>

/** Reads an event whose signature was valid. Throws for a body that is no event. */
export const readEvent = (body: unknown): PaymentEvent => PaymentEvent.parse(body)

/** @see https://docs.stripe.com/api/checkout/sessions/object */
const Session = z.looseObject({
  id: Id,
  client_reference_id: z.string().nullish(),
  metadata,
  payment_intent: IdOrObject.nullish(),
  payment_status: z.string(),
  amount_total: Cents.nullable(),
  currency: Currency.nullable(),
  total_details: z.looseObject({ amount_tax: Cents }).nullish(),
  automatic_tax: z.looseObject({ enabled: z.boolean(), status: z.string().nullish() }).nullish(),
})

/** @see https://docs.stripe.com/api/payment_intents/object */
const PaymentIntent = z.looseObject({
  id: Id,
  metadata,
  amount_received: Cents,
  currency: Currency,
  last_payment_error: z.looseObject({ message: z.string().optional() }).nullish(),
})

/** @see https://docs.stripe.com/api/charges/object */
const Charge = z.looseObject({
  id: Id,
  payment_intent: IdOrObject.nullish(),
  amount_refunded: Cents,
  currency: Currency,
})

/** @see https://docs.stripe.com/api/refunds/object */
const Refund = z.looseObject({
  id: Id,
  charge: IdOrObject.nullish(),
  payment_intent: IdOrObject.nullish(),
  amount: Cents,
  currency: Currency,
  status: z.string().nullish(),
})

/** @see https://docs.stripe.com/api/disputes/object */
const Dispute = z.looseObject({
  id: Id,
  payment_intent: IdOrObject.nullish(),
  amount: Cents,
  currency: Currency,
  status: z.string(),
})

type OrderNames = Pick<UnpaidFact, 'id' | 'sessionId'>

/** The processor's account may also sell other things, under other names. */
const toOwnId = (id: string | null | undefined) => (id && isId('cs', id) ? id : undefined)

const toOrderNames = (session: z.output<typeof Session>): OrderNames => ({
  id: toOwnId(session.metadata?.[ownIdName]) ?? toOwnId(session.client_reference_id),
  sessionId: session.id,
})

/**
 * Returns the tax that Stripe computed for a checkout, as a part of its total; undefined where it computed none. A checkout
 * without Stripe Tax has an amount of tax too, which is 0.
 */
export function readTax(session: unknown): bigint | undefined {
  const {
    amount_total: total,
    total_details: details,
    automatic_tax: mode,
  } = Session.parse(session)
  const cents = details?.amount_tax
  const isComputed = mode?.enabled === true && mode.status === 'complete'
  if (cents === undefined || cents > (total ?? 0) || (cents === 0 && !isComputed)) return undefined
  return BigInt(cents) * nanosPerCent
}

function toPaidFactOfSession(session: z.output<typeof Session>): PaidFact | undefined {
  // Some payment methods take days: another event reports how that ended.
  if (session.payment_status !== 'paid') return undefined
  return {
    type: 'paid',
    ...toOrderNames(session),
    paymentRef: session.payment_intent ?? session.id,
    amount: BigInt(session.amount_total ?? 0) * nanosPerCent,
    currency: session.currency ?? '',
    tax: readTax(session),
  }
}

const toPaidFactOfIntent = (intent: z.output<typeof PaymentIntent>): PaidFact => ({
  type: 'paid',
  id: toOwnId(intent.metadata?.[ownIdName]),
  sessionId: undefined,
  paymentRef: intent.id,
  amount: BigInt(intent.amount_received) * nanosPerCent,
  currency: intent.currency,
})

function toRefundOfCharge(charge: z.output<typeof Charge>): Fact | undefined {
  const { id, payment_intent: paymentRef, amount_refunded: cents, currency } = charge
  if (!paymentRef || cents === 0) return undefined
  const amount = BigInt(cents) * nanosPerCent
  return { type: 'reversed', kind: 'refund', reversalId: id, paymentRef, amount, currency }
}

/** Returns whether a refund moved no money. @see https://docs.stripe.com/refunds#failed-refunds */
export const isFailed = (status: string | null | undefined) =>
  status === 'failed' || status === 'canceled'

function toRefundFact(one: z.output<typeof Refund>): Fact | undefined {
  const { id: refundId, charge: chargeId, payment_intent: paymentRef, currency, status } = one
  if (!chargeId || !paymentRef || one.amount === 0) return undefined
  const amount = BigInt(one.amount) * nanosPerCent
  const hasFailed = isFailed(status)
  return { type: 'refunded', refundId, chargeId, paymentRef, amount, currency, hasFailed }
}

function toLostDispute(dispute: z.output<typeof Dispute>): Fact | undefined {
  const { id, payment_intent: paymentRef, amount: cents, currency, status } = dispute
  // A dispute that was won, or withdrawn by the bank, changes nothing.
  if (!paymentRef || status !== 'lost' || cents === 0) return undefined
  const amount = BigInt(cents) * nanosPerCent
  return { type: 'reversed', kind: 'dispute', reversalId: id, paymentRef, amount, currency }
}

/** Returns the fact in an event; undefined for events that are not about our money. Throws for a damaged event. */
export function toFact({ type, data: { object } }: PaymentEvent): Fact | undefined {
  switch (type) {
    case 'checkout.session.completed':
    case 'checkout.session.async_payment_succeeded':
      return toPaidFactOfSession(Session.parse(object))
    case 'checkout.session.expired':
      return { type: 'expired', ...toOrderNames(Session.parse(object)), reason: undefined }
    case 'checkout.session.async_payment_failed':
      return { type: 'failed', ...toOrderNames(Session.parse(object)), reason: undefined }
    case 'payment_intent.succeeded':
      return toPaidFactOfIntent(PaymentIntent.parse(object))
    case 'payment_intent.payment_failed': {
      const { metadata, last_payment_error: error } = PaymentIntent.parse(object)
      const id = toOwnId(metadata?.[ownIdName])
      return { type: 'failed', id, sessionId: undefined, reason: error?.message }
    }
    case 'charge.refunded':
      return toRefundOfCharge(Charge.parse(object))
    case 'refund.created':
    case 'refund.updated':
    case 'refund.failed':
    // The older name of that event.
    case 'charge.refund.updated':
      return toRefundFact(Refund.parse(object))
    case 'charge.dispute.closed':
      return toLostDispute(Dispute.parse(object))
    default:
      return undefined
  }
}
