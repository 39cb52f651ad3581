import type { Transaction } from 'kysely'
import { nameOf, type PaymentDifference } from './differences'
import type { Schema } from '../platform/db/schema'
import { notify } from '../notifications/notify'
import { postMail } from '../platform/mail/outbox'

const billingPage = '/billing'

/** Formats nano-dollars to the cent, rounded up: a payment of that sum must be enough. */
export function formatDollars(nanos: bigint): string {
  const cents = String((nanos + 9_999_999n) / 10_000_000n).padStart(3, '0')
  return `$${cents.slice(0, -2)}.${cents.slice(-2)}`
}

interface Failure {
  paymentId: string
  userId: string
  amount: bigint
}

/** Notifies the customer that the charge of the saved payment method was declined. */
export async function notifyFailure(
  trx: Transaction<Schema>,
  { paymentId, userId, amount }: Failure,
): Promise<void> {
  const body =
    `Your saved payment method could not be charged ${formatDollars(amount)}. ` +
    'Paid requests are rejected until you buy credits.'
  const reference = `payment:${paymentId}:failed`
  await notifyPayer(trx, { userId, body, reference, title: 'Automatic recharge failed' })
}

/** Notifies the customer of a debt: more was taken back than was available. */
export async function notifyDebt(
  trx: Transaction<Schema>,
  { paymentId, debt }: { paymentId: string; debt: bigint },
): Promise<void> {
  const { user_id: userId } = await trx
    .selectFrom('payment')
    .select('user_id')
    .where('id', '=', paymentId)
    .executeTakeFirstOrThrow()
  const body =
    `A payment was reversed after its credits had been used; ${formatDollars(debt)} is owed. ` +
    'Paid requests are rejected until you buy credits, which are applied to that amount first.'
  const reference = `payment:${paymentId}:owed:${debt}`
  await notifyPayer(trx, { userId, body, reference, title: 'A payment was reversed' })
}

interface PayerNotice {
  userId: string
  title: string
  body: string
  /** Mails with the same reference are sent once. */
  reference: string
}

/** Notifies in the dashboard and by mail; a deleted user gets neither. */
async function notifyPayer(
  trx: Transaction<Schema>,
  { userId, title, body, reference }: PayerNotice,
): Promise<void> {
  const user = await trx
    .selectFrom('users')
    .select('email')
    .where('id', '=', userId)
    .executeTakeFirst()
  if (!user) return
  await notify(trx, { userId, kind: 'system', title, body, link: billingPage })
  await postMail(trx, { recipient: user.email, subject: title, body, reference })
}

const maxOperators = 50
const maxNamed = 5

/** Formats a finding for operators. */
export const formatFinding = (finding: PaymentDifference): string =>
  `${finding.kind} ${nameOf(finding)}: ${finding.paymentRef}, of which the payment processor says ` +
  `${formatDollars(finding.claimed)} and the ledger ${formatDollars(finding.booked)}`

/** Notifies operators of a disagreement between the processor and the ledger, in their dashboard. */
export async function notifyOperators(
  trx: Transaction<Schema>,
  findings: readonly PaymentDifference[],
): Promise<void> {
  const namedFindings = findings.slice(0, maxNamed).map(formatFinding)
  const rest = findings.length - namedFindings.length
  const body = [...namedFindings, ...(rest > 0 ? [`${rest} more are in the log`] : [])].join('; ')
  const operators = await trx
    .selectFrom('users')
    .select('id')
    .where('is_operator', '=', true)
    .where('status', '=', 'active')
    .orderBy('id')
    .limit(maxOperators)
    .execute()
  for (const { id: userId } of operators) {
    const title = 'The ledger differs from the payment processor'
    await notify(trx, { userId, kind: 'system', title, body: `${body}.` })
  }
}
