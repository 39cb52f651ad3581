import { sql, type Kysely } from 'kysely'
import type { Processor } from './processor'
import type { Schema } from '../platform/db/schema'

/** Keeps the tax in a payment as the processor reported it. What was kept before stays. */
export async function keepReportedTax(
  db: Kysely<Schema>,
  paymentId: string,
  tax: bigint | undefined,
): Promise<void> {
  // It did not change: `updated_at` stays.
  await sql`
    update payment set tax = coalesce(tax, ${tax ?? null}::bigint), tax_pending = false
    where id = ${paymentId}`.execute(db)
}

/**
 * Reads the tax of a payment whose events did not report it: its invoice waits for that. Rejects where the processor, or the
 * database, does not answer.
 */
export async function keepTax(
  db: Kysely<Schema>,
  processor: Pick<Processor, 'tax'>,
  paymentId: string,
): Promise<void> {
  const payment = await db
    .selectFrom('payment')
    .select('session_id')
    .where('id', '=', paymentId)
    .where('status', '=', 'completed')
    .where('tax_pending', '=', true)
    .executeTakeFirst()
  if (!payment) return
  const { session_id: sessionId } = payment
  await keepReportedTax(
    db,
    paymentId,
    sessionId === null ? undefined : await processor.tax(sessionId),
  )
}

const batchSize = 20

/** Finds payments whose tax is not known yet, the newest first. */
export async function findPendingTaxes(db: Kysely<Schema>): Promise<string[]> {
  const rows = await db
    .selectFrom('payment')
    .select('id')
    .where('tax_pending', '=', true)
    .where('status', '=', 'completed')
    .orderBy('id', 'desc')
    .limit(batchSize)
    .execute()
  return rows.map(({ id }) => id)
}
