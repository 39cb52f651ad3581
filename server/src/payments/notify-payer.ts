import type { Transaction } from 'kysely'
import { nameOf, type PaymentDifference } from './differences'
import type { Schema } from '../db/schema'
import { notify } from '../notifications/notify'
import { postMail } from '../mail/outbox'

const billingPage = '/billing'

/** Nano-dollars in words, to the cent, rounded up: what one pays must be enough. */
export function formatDollars(nanos: bigint): string {
  const cents = String((nanos + 9_999_999n) / 10_000_000n).padStart(3, '0')
  return `$${cents.slice(0, -2)}.${cents.slice(-2)}`
}

interface Failure {
  paymentId: string
  userId: string
  amount: bigint
}

/** The saved payment method was charged, and was not good for it. */
export async function tellOfFailure(
  trx: Transaction<Schema>,
  { paymentId, userId, amount }: Failure,
): Promise<void> {
  const body =
    `Your saved payment method could not be charged ${formatDollars(amount)}. ` +
    'Requests that cost something are refused until you buy credits.'
  const reference = `payment:${paymentId}:failed`
  await tell(trx, { userId, body, reference, title: 'Automatic recharge failed' })
}

/** More was taken back than was there. */
export async function tellOfDebt(
  trx: Transaction<Schema>,
  { paymentId, owed }: { paymentId: string; owed: bigint },
): Promise<void> {
  const { user_id: userId } = await trx
    .selectFrom('payment')
    .select('user_id')
    .where('id', '=', paymentId)
    .executeTakeFirstOrThrow()
  const body =
    `A payment was taken back after its credits had been used; ${formatDollars(owed)} is owed. ` +
    'Requests that cost something are refused until you buy credits, which pay for that first.'
  const reference = `payment:${paymentId}:owed:${owed}`
  await tell(trx, { userId, body, reference, title: 'A payment was taken back' })
}

interface Words {
  userId: string
  title: string
  body: string
  /** The same mail is sent once. */
  reference: string
}

/** In the dashboard and by mail; nobody is told who is gone. */
async function tell(
  trx: Transaction<Schema>,
  { userId, title, body, reference }: Words,
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

const mostOperators = 50
const mostNamed = 5

/** One finding in words, for operators. */
export const findingInWords = (finding: PaymentDifference): string =>
  `${finding.kind} ${nameOf(finding)}: ${finding.paymentRef}, of which the payment processor says ` +
  `${formatDollars(finding.claimed)} and the ledger ${formatDollars(finding.booked)}`

/** Where the processor and the ledger disagree, in the dashboard of those who operate this. */
export async function tellOperators(
  trx: Transaction<Schema>,
  findings: readonly PaymentDifference[],
): Promise<void> {
  const named = findings.slice(0, mostNamed).map(findingInWords)
  const rest = findings.length - named.length
  const body = [...named, ...(rest > 0 ? [`${rest} more are in the log`] : [])].join('; ')
  const operators = await trx
    .selectFrom('users')
    .select('id')
    .where('is_operator', '=', true)
    .where('status', '=', 'active')
    .orderBy('id')
    .limit(mostOperators)
    .execute()
  for (const { id: userId } of operators) {
    const title = 'The ledger differs from the payment processor'
    await notify(trx, { userId, kind: 'system', title, body: `${body}.` })
  }
}
