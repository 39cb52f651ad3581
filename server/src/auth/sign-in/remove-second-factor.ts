import { sql, type Kysely } from 'kysely'
import type { Schema } from '../../platform/db/schema'

/** Ends what could lead to a session of an account without a further factor: trusted devices and open challenges. */
export async function endTrust(db: Kysely<Schema>, userId: string): Promise<void> {
  await sql`
    delete from auth_verification
    where value = ${userId}
      and (identifier like 'trust-device-%' or identifier like '2fa-%')`.execute(db)
}

/** Ends all sessions of an account, its trusted devices and open challenges. */
export async function endAccess(db: Kysely<Schema>, userId: string): Promise<void> {
  await sql`delete from auth_session where user_id = ${userId}`.execute(db)
  await endTrust(db, userId)
}

/** Removes the second factor of an account, for an owner who has lost it, and ends all sessions. */
export const removeSecondFactor = (db: Kysely<Schema>, userId: string): Promise<void> =>
  db.transaction().execute(async (trx) => {
    await sql`update users set two_factor_enabled = false where id = ${userId}`.execute(trx)
    await sql`delete from auth_two_factor where user_id = ${userId}`.execute(trx)
    await endAccess(trx, userId)
  })
