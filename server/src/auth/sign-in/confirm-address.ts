import { sql, type Transaction } from 'kysely'
import { endAccess } from './remove-second-factor'
import type { Schema } from '../../platform/db/schema'

/**
 * Confirms an address that was not confirmed before, and removes what its sign-up has set, as a sign-in link
 * does: the person who typed the address may not own it. The address is in lower case.
 */
export async function confirmAddressOf(trx: Transaction<Schema>, email: string): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    update users set email_verified = true, updated_at = now()
    where lower(email) = ${email} and not email_verified returning id`.execute(trx)
  for (const { id } of rows) {
    await sql`delete from auth_account where user_id = ${id}`.execute(trx)
    await endAccess(trx, id)
  }
}
