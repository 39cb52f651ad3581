import { sql, type Kysely } from 'kysely'
import { apply } from './apply-fact'
import { bookIn } from './book'
import { nanosPerCent } from './event'
import type { Fact } from './fact'
import type { Charged, NewCharge, Processor } from './processor'
import { report, type BookingPorts } from './receive'
import { findUnreadReceipts, keepReceipt } from './receipts'
import { findPendingTaxes, keepTax } from './taxes'
import { keepMethod, findUnsavedMethods } from './saved-method'
import { newId } from '../platform/db/id'
import type { Schema } from '../platform/db/schema'
import { isUniqueViolation } from '../platform/db/violation'
import { heldOf } from '../ledger/held-amounts'

export interface RechargePorts extends BookingPorts {
  processor: Processor
  /** Called when one charge, or one saved method, failed for a reason other than its customer; it is retried. */
  onError: (error: unknown, paymentId: string) => void
}

const batchSize = 20
/** The processor recognizes a repeated name for this long. */
const repeatableHours = 23
const eventDays = 90

/**
 * Recharges the accounts that are due, completes charges that an earlier round left open, reads receipts, and purges old
 * rows.
 * For one node at a time.
 */
export async function runPayments(ports: RechargePorts): Promise<void> {
  const { db } = ports
  await expireOld(db)
  for (const charge of await findUnfinished(db)) await attemptCharge(ports, charge)
  for (const userId of await accountsBelow(db)) {
    const charge = await begin(db, userId)
    if (charge) await attemptCharge(ports, charge)
  }
  for (const id of await findUnsavedMethods(db)) {
    await keepMethod(db, ports.processor, id).catch((error: unknown) => ports.onError(error, id))
  }
  for (const id of await findPendingTaxes(db)) {
    await keepTax(db, ports.processor, id).catch((error: unknown) => ports.onError(error, id))
  }
  for (const id of await findUnreadReceipts(db)) {
    await keepReceipt(db, ports.processor, id).catch((error: unknown) => ports.onError(error, id))
  }
}

/** A checkout ends after a day. An event reports a payment made meanwhile, however late. */
async function expireOld(db: Kysely<Schema>): Promise<void> {
  await sql`
    update payment set status = 'expired', updated_at = now()
    where status = 'pending' and expires_at < now() - interval '1 hour'
      and (kind = 'checkout' or payment_ref is null)`.execute(db)
  const old = sql`now() - make_interval(days => ${eventDays})`
  await sql`delete from payment_event where received_at < ${old}`.execute(db)
  await sql`
    delete from payment_reversal as r where booked = 0 and created_at < ${old}
      and not exists (select from payment where payment_ref = r.payment_ref)`.execute(db)
}

/** Returns charges with an unknown outcome: the process died, or the processor did not answer. */
async function findUnfinished(db: Kysely<Schema>): Promise<NewCharge[]> {
  const { rows } = await sql<NewCharge>`
    select id, amount, customer_id as "customerId", method_id as "methodId" from payment
    where kind = 'automatic' and status = 'pending' and payment_ref is null
      and created_at > now() - make_interval(hours => ${repeatableHours})
    order by id limit ${batchSize}`.execute(db)
  return rows
}

/** The condition for a recharge; `u` and `a` are a user and the user's account. */
const isDue = sql`
  u.auto_recharge_enabled and u.status = 'active'
  and u.payment_customer_id is not null and u.payment_method_id is not null
  and not a.payment_method_required and a.blocked_reason is null
  and a.posted - ${heldOf('a.id')} < u.auto_recharge_threshold
  and not exists (
    select from payment as p where p.account_id = u.id and p.kind = 'automatic'
      and (p.status = 'pending' or p.created_at > now() - interval '1 hour')
  )`

async function accountsBelow(db: Kysely<Schema>): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select u.id from users as u join credit_account as a on a.id = u.id
    where ${isDue} order by u.id limit ${batchSize}`.execute(db)
  return rows.map(({ id }) => id)
}

/** Records a charge before it is made; undefined where it is no longer due. */
async function begin(db: Kysely<Schema>, userId: string): Promise<NewCharge | undefined> {
  const id = newId('cs')
  const { rows } = await sql<NewCharge>`
    insert into payment (id, kind, account_id, user_id, amount, customer_id, method_id)
    select ${id}, 'automatic', u.id, u.id,
      u.auto_recharge_amount / ${nanosPerCent}::bigint * ${nanosPerCent}::bigint,
      u.payment_customer_id, u.payment_method_id
    from users as u join credit_account as a on a.id = u.id
    where u.id = ${userId} and ${isDue}
    returning id, amount, customer_id as "customerId", method_id as "methodId"`
    .execute(db)
    .catch((thrown: unknown) => {
      if (isUniqueViolation(thrown)) return { rows: [] }
      throw thrown
    })
  return rows[0]
}

async function attemptCharge(ports: RechargePorts, charge: NewCharge): Promise<void> {
  const { id } = charge
  try {
    const charged = await ports.processor.charge(charge)
    if (charged.type === 'pending') return await wait(ports.db, id, charged.paymentRef)
    const outcome = await ports.db
      .transaction()
      .execute((trx) => apply(bookIn(trx), factOf(id, charged)))
    report(ports, outcome, { payment: id })
  } catch (error) {
    ports.onError(error, id)
  }
}

const factOf = (id: string, charged: Exclude<Charged, { type: 'pending' }>): Fact =>
  charged.type === 'paid'
    ? { ...charged, id, sessionId: undefined }
    : { ...charged, id, sessionId: undefined }

/** The bank takes its time; an event reports the outcome. */
async function wait(db: Kysely<Schema>, id: string, paymentRef: string): Promise<void> {
  await db
    .updateTable('payment')
    .set({ payment_ref: paymentRef, updated_at: new Date() })
    .where('id', '=', id)
    .where('status', '=', 'pending')
    .execute()
}
