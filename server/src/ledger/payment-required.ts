import { sql, type Kysely } from 'kysely'
import type { Schema } from '../platform/db/schema'

/** Sets or lifts the restriction that refuses an account all paid requests until a payment. */
export async function setPaymentRequired(
  db: Kysely<Schema>,
  accountId: string,
  isRequired: boolean,
): Promise<void> {
  await sql`
    update credit_account set payment_method_required = ${isRequired}
    where id = ${accountId} and payment_method_required <> ${isRequired}`.execute(db)
}
