import { sql, type Kysely, type Selectable } from 'kysely'
import type { Processor } from './processor'
import { newId } from '../platform/db/id'
import type { PaymentRow } from '../platform/db/payment-schema'
import type { Schema } from '../platform/db/schema'
import { recordMoney } from '../audit-log/record-money'

/** An order for credit. */
export interface Order {
  userId: string
  /** The credited account: the buyer's own, or an organization's. */
  accountId: string
  /** Nano-dollars, whole cents. */
  amount: bigint
  saveMethod: boolean
  /** Whether the processor computes the tax that the amount includes. */
  hasTax: boolean
  /** Returns the pages that the checkout leads back to, once its id is known. */
  returnTo: (id: string) => { success: string; cancel: string }
}

/** A checkout that can be paid. */
export type OpenCheckout = Selectable<PaymentRow> & { url: string }

/**
 * Opens a checkout. Records it before calling the processor, so that no event can come before. Rejects with
 * `connection_failed` and `provider_error`.
 */
export async function openCheckout(
  db: Kysely<Schema>,
  processor: Processor,
  order: Order,
): Promise<OpenCheckout> {
  const { userId, accountId, amount, saveMethod, hasTax } = order
  const { email, customerId } = await buyerOf(db, userId)
  const id = newId('cs')
  await db
    .insertInto('payment')
    .values({
      id,
      kind: 'checkout',
      account_id: accountId,
      user_id: userId,
      amount,
      save_method: saveMethod,
      tax_pending: hasTax,
    })
    .execute()
  const { success: successUrl, cancel: cancelUrl } = order.returnTo(id)
  const checkout = { id, amount, successUrl, cancelUrl, email, customerId, saveMethod, hasTax }
  const opened = await processor.openCheckout(checkout).catch(async (thrown: unknown) => {
    // If it was opened all the same, no client has its address; paying it would still count.
    await db
      .updateTable('payment')
      .set({ status: 'failed', failure: 'not opened', updated_at: new Date() })
      .where('id', '=', id)
      .where('status', '=', 'pending')
      .execute()
    throw thrown
  })
  const row = await db.transaction().execute(async (trx) => {
    await recordMoney(trx, 'checkout.opened', { accountId, id, amount })
    return trx
      .updateTable('payment')
      .set({ session_id: opened.sessionId, url: opened.url, updated_at: new Date() })
      .where('id', '=', id)
      .returningAll()
      .executeTakeFirstOrThrow()
  })
  return { ...row, url: opened.url }
}

async function buyerOf(db: Kysely<Schema>, userId: string) {
  const { rows } = await sql<{ email: string; customer: string | null }>`
    select email, payment_customer_id as customer from users where id = ${userId}`.execute(db)
  const [buyer] = rows
  if (!buyer) throw new Error(`there is no user ${userId}`)
  return { email: buyer.email, customerId: buyer.customer ?? undefined }
}
