import { sql, type Transaction } from 'kysely'
import type { Book, Payment, Reversal } from './apply'
import type { Paid, Reversed, Unpaid } from './fact'
import { tellOfDebt, tellOfFailure } from './tell'
import type { Schema } from '../db/schema'
import { setPaymentRequired } from '../ledger/payment-required'
import { post } from '../ledger/post'
import { debtOf, lockAccount, payDebt, takeBack } from '../ledger/take-back'

/** More than this cannot have been paid; a column has room for it. */
const mostNanos = 10n ** 17n

/** Payments as PostgreSQL keeps them, and their money as the ledger does. */
export const bookIn = (trx: Transaction<Schema>): Book => ({
  async serialize(paymentRef) {
    await sql`select pg_advisory_xact_lock(hashtextextended(${paymentRef}, 7265014))`.execute(trx)
  },
  lock: (id) => lockPayment(trx, 'id', id),
  lockBySession: (sessionId) => lockPayment(trx, 'session_id', sessionId),
  lockByRef: (paymentRef) => lockPayment(trx, 'payment_ref', paymentRef),
  complete: (payment, paid) => complete(trx, payment, paid),
  end: (payment, unpaid) => end(trx, payment, unpaid),
  noteReversal: (reversed) => noteReversal(trx, reversed),
  async reversals(paymentRef) {
    return trx
      .selectFrom('payment_reversal')
      .select(['id', 'kind', 'amount', 'booked'])
      .where('payment_ref', '=', paymentRef)
      .orderBy('id')
      .forUpdate()
      .execute()
  },
  takeBack: (payment, reversal, amount) => reverse(trx, { payment, reversal, amount }),
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

async function complete(trx: Transaction<Schema>, payment: Payment, paid: Paid): Promise<void> {
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
  const owed = await payDebt(trx, accountId, `debt:${id}`)
  if (owed === 0n) await setPaymentRequired(trx, accountId, false)
}

async function end(trx: Transaction<Schema>, payment: Payment, unpaid: Unpaid): Promise<void> {
  const { type: status, reason } = unpaid
  const { kind, user_id: userId } = await trx
    .updateTable('payment')
    .set({ status, failure: reason?.slice(0, 500) ?? null, updated_at: new Date() })
    .where('id', '=', payment.id)
    .returning(['kind', 'user_id'])
    .executeTakeFirstOrThrow()
  // A customer who stands before a checkout sees for himself.
  if (kind !== 'automatic' || status !== 'failed') return
  await setPaymentRequired(trx, payment.accountId, true)
  await tellOfFailure(trx, { paymentId: payment.id, userId, amount: payment.amount })
}

async function noteReversal(trx: Transaction<Schema>, reversed: Reversed): Promise<void> {
  const { reversalId: id, paymentRef: payment_ref, kind } = reversed
  const amount = reversed.amount < mostNanos ? reversed.amount : mostNanos
  await sql`
    insert into payment_reversal as known (id, payment_ref, kind, amount)
    values (${id}, ${payment_ref}, ${kind}, ${amount})
    on conflict (id) do update set amount = greatest(known.amount, excluded.amount)
  `.execute(trx)
}

interface Reversing {
  payment: Payment
  reversal: Reversal
  amount: bigint
}

async function reverse(
  trx: Transaction<Schema>,
  { payment, reversal, amount }: Reversing,
): Promise<void> {
  const { accountId } = payment
  const booked = reversal.booked + amount
  await trx.updateTable('payment_reversal').set({ booked }).where('id', '=', reversal.id).execute()
  await lockAccount(trx, accountId)
  const owed = await debtOf(trx, accountId)
  const debt = await takeBack(trx, {
    accountId,
    amount,
    kind: reversal.kind,
    externalRef: `${reversal.id}:${booked}`,
    description: reversal.kind === 'refund' ? 'Payment refunded' : 'Payment disputed',
  })
  if (debt === 0n) return
  await setPaymentRequired(trx, accountId, true)
  await tellOfDebt(trx, { paymentId: payment.id, owed: owed + debt })
}
