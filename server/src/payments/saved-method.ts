import { sql, type Kysely } from 'kysely'
import type { Processor } from './processor'
import type { Schema } from '../platform/db/schema'

/**
 * Keeps the payment method of a payment, where its customer consented, for automatic recharges. Repeating it is
 * harmless. Rejects where the processor, or the database, does not answer.
 */
export async function keepMethod(
  db: Kysely<Schema>,
  processor: Pick<Processor, 'savedMethod'>,
  paymentId: string,
): Promise<void> {
  const payment = await db
    .selectFrom('payment')
    .select(['user_id', 'payment_ref'])
    .where('id', '=', paymentId)
    .where('status', '=', 'completed')
    .where('save_method', '=', true)
    .where('method_saved', '=', false)
    .executeTakeFirst()
  if (!payment?.payment_ref) return
  const method = await processor.savedMethod(payment.payment_ref)
  await db.transaction().execute(async (trx) => {
    const { numUpdatedRows } = await trx
      .updateTable('payment')
      .set({ method_saved: true, updated_at: new Date() })
      .where('id', '=', paymentId)
      .where('method_saved', '=', false)
      .executeTakeFirst()
    if (numUpdatedRows === 0n || !method) return
    await sql`
      update users set payment_customer_id = ${method.customerId},
        payment_method_id = ${method.methodId}
      where id = ${payment.user_id}`.execute(trx)
  })
}

const batchSize = 20

/** Finds payments whose method could not be read when they were made. */
export async function findUnsavedMethods(db: Kysely<Schema>): Promise<string[]> {
  const rows = await db
    .selectFrom('payment')
    .select('id')
    .where('save_method', '=', true)
    .where('method_saved', '=', false)
    .where('status', '=', 'completed')
    .orderBy('id', 'desc')
    .limit(batchSize)
    .execute()
  return rows.map(({ id }) => id)
}
