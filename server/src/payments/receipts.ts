import { sql, type Kysely } from 'kysely'
import type { Processor } from './processor'
import type { Schema } from '../platform/db/schema'

/**
 * Keeps the address of the processor's receipt of a payment. Repeating it is harmless. Rejects where the processor, or the
 * database, does not answer.
 */
export async function keepReceipt(
  db: Kysely<Schema>,
  processor: Pick<Processor, 'receipt'>,
  paymentId: string,
): Promise<void> {
  const payment = await db
    .selectFrom('payment')
    .select('payment_ref')
    .where('id', '=', paymentId)
    .where('status', '=', 'completed')
    .where('receipt_read', '=', false)
    .executeTakeFirst()
  if (!payment?.payment_ref) return
  const url = await processor.receipt(payment.payment_ref)
  await db
    .updateTable('payment')
    // It did not change: `updated_at` stays.
    .set({ receipt_read: true, receipt_url: url ?? null })
    .where('id', '=', paymentId)
    .execute()
}

const batchSize = 20

/** Finds payments whose receipt was not read when they were made, the newest first. */
export async function findUnreadReceipts(db: Kysely<Schema>): Promise<string[]> {
  const { rows } = await sql<{ id: string }>`
    select id from payment where status = 'completed' and not receipt_read
    order by id desc limit ${batchSize}`.execute(db)
  return rows.map(({ id }) => id)
}
