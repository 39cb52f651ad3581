import type { Stripe as StripeClient } from 'stripe'
import { isFailed, nanosPerCent, ownIdName } from './event'
import type { ListedPayment, PaymentPeriod, PaymentAmounts, Statement } from './processor'
import { isId } from '../platform/db/id'

/** The largest page that Stripe returns. @see https://docs.stripe.com/api/pagination */
const pageSize = 100
const maxPages = 200

const none: PaymentAmounts = { paid: 0n, refunded: 0n, disputed: 0n }

const toNanos = (cents: number) => BigInt(cents) * nanosPerCent
const toSeconds = (date: Date) => Math.floor(date.getTime() / 1000)
const idOf = (reference: string | { id: string } | null) =>
  typeof reference === 'string' ? reference : reference?.id

interface Page<Item> {
  data: Item[]
  has_more: boolean
}

interface Cursor {
  limit: number
  starting_after?: string
}

/** Reads a list page by page; resolves with false where it had to stop before the end. */
async function readPages<Item extends { id: string }>(
  hasTime: () => boolean,
  fetchPage: (cursor: Cursor) => Promise<Page<Item>>,
  onItem: (item: Item) => void,
): Promise<boolean> {
  let after: string | undefined
  for (let page = 0; page < maxPages && hasTime(); page++) {
    const cursor = { limit: pageSize, ...(after !== undefined && { starting_after: after }) }
    const { data, has_more: hasMore } = await fetchPage(cursor)
    for (const item of data) onItem(item)
    after = data.at(-1)?.id
    if (!hasMore || after === undefined) return true
  }
  return false
}

const getPaidAmount = ({ status, amount_received: cents }: StripeClient.PaymentIntent) =>
  status === 'succeeded' ? toNanos(cents) : 0n

const getRefundedAmount = ({ status, amount }: StripeClient.Refund) =>
  isFailed(status) ? 0n : toNanos(amount)

const getDisputedAmount = ({ status, amount }: StripeClient.Dispute) =>
  status === 'lost' ? toNanos(amount) : 0n

const isOurs = ({ metadata }: StripeClient.PaymentIntent) => isId('cs', metadata[ownIdName] ?? '')

/** Lists payments, refunds and disputes; see `Processor`. */
export async function listAll(
  stripe: StripeClient,
  { since, until, hasTime }: PaymentPeriod,
  onItem: (listed: ListedPayment) => void,
): Promise<boolean> {
  const toCreatedRange = (from: Date) => ({
    created: { gte: toSeconds(from), lte: toSeconds(until) },
  })
  const report = (of: string | { id: string } | null, moved: Partial<PaymentAmounts>) => {
    const paymentRef = idOf(of)
    // Charges without a payment intent are older than any of ours.
    if (paymentRef) onItem({ ...none, ...moved, paymentRef, isOurs: false })
  }
  const ends = [
    await readPages(
      hasTime,
      (cursor) => stripe.paymentIntents.list({ ...toCreatedRange(since.payments), ...cursor }),
      (intent) => {
        const paid = getPaidAmount(intent)
        if (paid > 0n) onItem({ ...none, paid, paymentRef: intent.id, isOurs: isOurs(intent) })
      },
    ),
    await readPages(
      hasTime,
      (cursor) => stripe.refunds.list({ ...toCreatedRange(since.refunds), ...cursor }),
      (refund) => report(refund.payment_intent, { refunded: getRefundedAmount(refund) }),
    ),
    await readPages(
      hasTime,
      (cursor) => stripe.disputes.list({ ...toCreatedRange(since.disputes), ...cursor }),
      (dispute) => report(dispute.payment_intent, { disputed: getDisputedAmount(dispute) }),
    ),
  ]
  return ends.every(Boolean)
}

/** More refunds or disputes than a payment has. */
const page = { limit: pageSize }

/** Reads all movements of one payment; see `Processor`. */
export async function readStatement(stripe: StripeClient, paymentRef: string): Promise<Statement> {
  const intent = await stripe.paymentIntents.retrieve(paymentRef).catch((thrown: unknown) => {
    const isUnknown = thrown instanceof Error && Reflect.get(thrown, 'code') === 'resource_missing'
    if (isUnknown) return undefined
    throw thrown
  })
  if (!intent) return { ...none, latest: new Date(0) }
  const { data: refunds } = await stripe.refunds.list({ payment_intent: paymentRef, ...page })
  const { data: disputes } = await stripe.disputes.list({ payment_intent: paymentRef, ...page })
  const created = [intent, ...refunds, ...disputes].map((one) => one.created)
  return {
    paid: getPaidAmount(intent),
    refunded: refunds.reduce((sum, refund) => sum + getRefundedAmount(refund), 0n),
    disputed: disputes.reduce((sum, dispute) => sum + getDisputedAmount(dispute), 0n),
    latest: new Date(Math.max(...created) * 1000),
  }
}
