import { z } from 'zod'
import { isId } from '../db/id'
import type { Fact, PaidFact, UnpaidFact } from './fact'

/** Under which the processor keeps our name of a payment. */
export const ownIdName = 'tollgate_payment'

/** What a cent is in nano-dollars. */
export const nanosPerCent = 10_000_000n

const metadata = z.looseObject({ [ownIdName]: z.string().optional() }).nullish()
const Id = z.string().min(1).max(255)
/** An id, or the object itself where somebody asked for it. */
const IdOrObject = z.union([Id, z.looseObject({ id: Id }).transform(({ id }) => id)])
const Cents = z.int().min(0)
const Currency = z.string().transform((currency) => currency.toLowerCase())

const PaymentEvent = z.looseObject({
  id: Id,
  type: z.string(),
  livemode: z.boolean().optional(),
  /** Of whom an event is that is not about the processor's own customer. */
  account: z.string().nullish(),
  data: z.looseObject({ object: z.unknown() }),
})
export type PaymentEvent = z.output<typeof PaymentEvent>

/** An event whose signature was good. Throws for what is none. */
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

type Named = Pick<UnpaidFact, 'id' | 'sessionId'>

/** The same account of the processor may sell other things, under names of their own. */
const ours = (id: string | null | undefined) => (id && isId('cs', id) ? id : undefined)

const namedBy = (session: z.output<typeof Session>): Named => ({
  id: ours(session.metadata?.[ownIdName]) ?? ours(session.client_reference_id),
  sessionId: session.id,
})

function paidSession(session: z.output<typeof Session>): PaidFact | undefined {
  // Some ways of paying take days: another event tells how that ended.
  if (session.payment_status !== 'paid') return undefined
  return {
    type: 'paid',
    ...namedBy(session),
    paymentRef: session.payment_intent ?? session.id,
    amount: BigInt(session.amount_total ?? 0) * nanosPerCent,
    currency: session.currency ?? '',
  }
}

const paidIntent = (intent: z.output<typeof PaymentIntent>): PaidFact => ({
  type: 'paid',
  id: ours(intent.metadata?.[ownIdName]),
  sessionId: undefined,
  paymentRef: intent.id,
  amount: BigInt(intent.amount_received) * nanosPerCent,
  currency: intent.currency,
})

function refunded(charge: z.output<typeof Charge>): Fact | undefined {
  const { id, payment_intent: paymentRef, amount_refunded: cents, currency } = charge
  if (!paymentRef || cents === 0) return undefined
  const amount = BigInt(cents) * nanosPerCent
  return { type: 'reversed', kind: 'refund', reversalId: id, paymentRef, amount, currency }
}

/** Whether a refund gave nothing to anybody. @see https://docs.stripe.com/refunds#failed-refunds */
export const isFailed = (status: string | null | undefined) =>
  status === 'failed' || status === 'canceled'

function refund(one: z.output<typeof Refund>): Fact | undefined {
  const { id: refundId, charge: chargeId, payment_intent: paymentRef, currency, status } = one
  if (!chargeId || !paymentRef || one.amount === 0) return undefined
  const amount = BigInt(one.amount) * nanosPerCent
  const hasFailed = isFailed(status)
  return { type: 'refunded', refundId, chargeId, paymentRef, amount, currency, hasFailed }
}

function lost(dispute: z.output<typeof Dispute>): Fact | undefined {
  const { id, payment_intent: paymentRef, amount: cents, currency, status } = dispute
  // One that was won, or that the bank took back, changes nothing.
  if (!paymentRef || status !== 'lost' || cents === 0) return undefined
  const amount = BigInt(cents) * nanosPerCent
  return { type: 'reversed', kind: 'dispute', reversalId: id, paymentRef, amount, currency }
}

/** What an event says; undefined for those that say nothing about money of ours. Throws for damage. */
export function toFact({ type, data: { object } }: PaymentEvent): Fact | undefined {
  switch (type) {
    case 'checkout.session.completed':
    case 'checkout.session.async_payment_succeeded':
      return paidSession(Session.parse(object))
    case 'checkout.session.expired':
      return { type: 'expired', ...namedBy(Session.parse(object)), reason: undefined }
    case 'checkout.session.async_payment_failed':
      return { type: 'failed', ...namedBy(Session.parse(object)), reason: undefined }
    case 'payment_intent.succeeded':
      return paidIntent(PaymentIntent.parse(object))
    case 'payment_intent.payment_failed': {
      const { metadata: kept, last_payment_error: error } = PaymentIntent.parse(object)
      const id = ours(kept?.[ownIdName])
      return { type: 'failed', id, sessionId: undefined, reason: error?.message }
    }
    case 'charge.refunded':
      return refunded(Charge.parse(object))
    case 'refund.created':
    case 'refund.updated':
    case 'refund.failed':
    // An older name of the same.
    case 'charge.refund.updated':
      return refund(Refund.parse(object))
    case 'charge.dispute.closed':
      return lost(Dispute.parse(object))
    default:
      return undefined
  }
}
