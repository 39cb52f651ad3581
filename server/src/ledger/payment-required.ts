import { sql, type Kysely } from 'kysely'
import type { Schema } from '../db/schema'

/** Sets or lifts what has an account refused whatever costs until somebody pays. */
export async function setPaymentRequired(
  db: Kysely<Schema>,
  accountId: string,
  isRequired: boolean,
): Promise<void> {
  await sql`
    update credit_account set payment_method_required = ${isRequired}
    where id = ${accountId} and payment_method_required <> ${isRequired}`.execute(db)
}
