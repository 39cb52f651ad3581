import { sql, type Transaction } from 'kysely'
import { computeRefundDue, type Book, type Payment, type Reversal } from './apply-fact'
import type { PaidFact, RefundFact, ReversalFact, UnpaidFact } from './fact'
import { keepReportedTax } from './taxes'
import { notifyDebt, notifyFailure } from './notify-payer'
import type { Schema } from '../platform/db/schema'
import { setPaymentRequired } from '../ledger/payment-required'
import { post } from '../ledger/post'
import { readDebt, lockAccount, payDebt, reversePayment } from '../ledger/reverse-payment'
import { recordMoney } from '../audit-log/record-money'

/** The largest amount that a payment can have; a column has room for it. */
const maxNanos = 10n ** 17n

/** Returns the payments in PostgreSQL, with their money in the ledger. */
export const bookIn = (trx: Transaction<Schema>): Book => ({
  async serialize(paymentRef) {
    await sql`select pg_advisory_xact_lock(hashtextextended(${paymentRef}, 7265014))`.execute(trx)
  },
  lock: (id) => lockPayment(trx, 'id', id),
  lockBySession: (sessionId) => lockPayment(trx, 'session_id', sessionId),
  lockByRef: (paymentRef) => lockPayment(trx, 'payment_ref', paymentRef),
  complete: (payment, paid) => complete(trx, payment, paid),
  noteTax: (payment, tax) => keepReportedTax(trx, payment.id, tax),
  end: (payment, unpaid) => end(trx, payment, unpaid),
  noteReversal: (reversal) => noteReversal(trx, reversal),
  noteRefund: (refunded) => noteRefund(trx, refunded),
  reversals: (paymentRef) => reversalsOf(trx, paymentRef),
  takeBack: (payment, reversal, amount) => reverse(trx, { payment, reversal, amount }),
  giveBack: (payment, reversal, amount) => giveBack(trx, { payment, reversal, amount }),
})

const lockPayment = (
  trx: Transaction<Schema>,
  column: 'id' | 'session_id' | 'payment_ref',
  value: string,
): Promise<Payment | undefined> =>
  trx
    .selectFrom('payment')
    .select(['id', 'amount', 'status'])
    .select(['account_id as accountId', 'session_id as sessionId', 'payment_ref as paymentRef'])
    .where(column, '=', value)
    .forUpdate()
    .executeTakeFirst()

async function complete(trx: Transaction<Schema>, payment: Payment, paid: PaidFact): Promise<void> {
  const { id, accountId, amount } = payment
  await trx
    .updateTable('payment')
    .set({
      status: 'completed',
      payment_ref: paid.paymentRef,
      ...(paid.sessionId !== undefined && { session_id: paid.sessionId }),
      updated_at: new Date(),
    })
    .where('id', '=', id)
    .execute()
  await lockAccount(trx, accountId)
  const posted = await post(trx, {
    accountId,
    amount,
    kind: 'topup',
    house: 'house:topup',
    externalRef: paid.paymentRef,
    description: 'Credits bought',
  })
  if (!posted) throw new Error(`there is no account ${accountId}`)
  await recordMoney(trx, 'credit.bought', { accountId, id, amount })
  const remainingDebt = await payDebt(trx, accountId, `debt:${id}`)
  if (remainingDebt === 0n) await setPaymentRequired(trx, accountId, false)
}

async function end(trx: Transaction<Schema>, payment: Payment, unpaid: UnpaidFact): Promise<void> {
  const { type: status, reason } = unpaid
  const { kind, user_id: userId } = await trx
    .updateTable('payment')
    .set({ status, failure: reason?.slice(0, 500) ?? null, updated_at: new Date() })
    .where('id', '=', payment.id)
    .returning(['kind', 'user_id'])
    .executeTakeFirstOrThrow()
  // A customer at a checkout sees the failure on its page.
  if (kind !== 'automatic' || status !== 'failed') return
  await setPaymentRequired(trx, payment.accountId, true)
  await notifyFailure(trx, { paymentId: payment.id, userId, amount: payment.amount })
}

async function noteReversal(trx: Transaction<Schema>, reversal: ReversalFact): Promise<void> {
  const { reversalId: id, paymentRef: payment_ref, kind } = reversal
  const amount = reversal.amount < maxNanos ? reversal.amount : maxNanos
  await sql`
    insert into payment_reversal as known (id, payment_ref, kind, amount)
    values (${id}, ${payment_ref}, ${kind}, ${amount})
    on conflict (id) do update set amount = greatest(known.amount, excluded.amount)
  `.execute(trx)
}

/** The charge's own event may not have arrived yet, and a failed refund stays failed. */
async function noteRefund(trx: Transaction<Schema>, refunded: RefundFact): Promise<void> {
  const { refundId: id, chargeId, paymentRef: payment_ref, hasFailed } = refunded
  const amount = refunded.amount < maxNanos ? refunded.amount : maxNanos
  await sql`
    insert into payment_reversal (id, payment_ref, kind, amount)
    values (${chargeId}, ${payment_ref}, 'refund', 0)
    on conflict (id) do nothing`.execute(trx)
  await sql`
    insert into payment_refund as known (id, reversal_id, amount, has_failed)
    values (${id}, ${chargeId}, ${amount}, ${hasFailed})
    on conflict (id) do update set has_failed = known.has_failed or excluded.has_failed
  `.execute(trx)
}

async function reversalsOf(trx: Transaction<Schema>, paymentRef: string): Promise<Reversal[]> {
  const { rows } = await sql<Reversal & { standing: bigint; failed: bigint }>`
    select r.id, r.kind, r.amount, r.booked, reported.standing, reported.failed
    from payment_reversal as r cross join lateral (
      select coalesce(sum(amount) filter (where not has_failed), 0)::bigint as standing,
        coalesce(sum(amount) filter (where has_failed), 0)::bigint as failed
      from payment_refund where reversal_id = r.id
    ) as reported
    where r.payment_ref = ${paymentRef}
    order by r.id for update of r`.execute(trx)
  return rows.map(({ id, kind, amount: inAll, booked, ...outcome }) => {
    return { id, kind, booked, amount: computeRefundDue({ inAll, ...outcome }) }
  })
}

interface ReversalChange {
  payment: Payment
  reversal: Reversal
  amount: bigint
}

/** Records how much of a reversal is booked; resolves with a unique name for the movement. */
async function noteBooked(
  trx: Transaction<Schema>,
  { reversal, amount }: Pick<ReversalChange, 'reversal' | 'amount'>,
): Promise<string> {
  const { movements } = await trx
    .updateTable('payment_reversal')
    .set(({ eb }) => ({
      booked: eb('booked', '+', amount),
      movements: eb('movements', '+', 1),
    }))
    .where('id', '=', reversal.id)
    .returning('movements')
    .executeTakeFirstOrThrow()
  return `${reversal.id}:${reversal.booked + amount}:${movements}`
}

async function reverse(
  trx: Transaction<Schema>,
  { payment, reversal, amount }: ReversalChange,
): Promise<void> {
  const { accountId } = payment
  const externalRef = await noteBooked(trx, { reversal, amount })
  await lockAccount(trx, accountId)
  const earlierDebt = await readDebt(trx, accountId)
  const debt = await reversePayment(trx, {
    accountId,
    amount,
    kind: reversal.kind,
    externalRef,
    description: reversal.kind === 'refund' ? 'Payment refunded' : 'Payment disputed',
  })
  const action = reversal.kind === 'refund' ? 'credit.refunded' : 'credit.disputed'
  await recordMoney(trx, action, { accountId, id: payment.id, amount: -amount })
  if (debt === 0n) return
  await setPaymentRequired(trx, accountId, true)
  await notifyDebt(trx, { paymentId: payment.id, debt: earlierDebt + debt })
}

/** The debt for it is cancelled. */
async function giveBack(
  trx: Transaction<Schema>,
  { payment, reversal, amount }: ReversalChange,
): Promise<void> {
  const { accountId } = payment
  const externalRef = await noteBooked(trx, { reversal, amount: -amount })
  await lockAccount(trx, accountId)
  const posted = await post(trx, {
    accountId,
    amount,
    kind: reversal.kind,
    house: 'house:topup',
    externalRef,
    description: 'A refund that was not carried out',
  })
  if (!posted) throw new Error(`there is no account ${accountId}`)
  await recordMoney(trx, 'credit.returned', { accountId, id: payment.id, amount })
  const debt = await readDebt(trx, accountId)
  if (debt === 0n) return
  const remainingDebt = await payDebt(trx, accountId, `debt:${payment.id}:${externalRef}`)
  // An account without a debt may have to pay for another reason: a declined charge.
  if (remainingDebt === 0n) await setPaymentRequired(trx, accountId, false)
}
