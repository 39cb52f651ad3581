import { sql, type Kysely } from 'kysely'
import { accountIdOf, providerId } from './sign-in-flow'
import { confirmAddressOf } from '../confirm-address'
import { hashOf } from '../link'
import { endAccess } from '../remove-second-factor'
import type { Schema } from '../../../platform/db/schema'

/** A session at the provider may last for longer than one here, which has 30 days. */
const keptDays = 31

/** Confirms an address that was not confirmed before. */
export const confirmAddress = (db: Kysely<Schema>, email: string): Promise<void> =>
  db.transaction().execute((trx) => confirmAddressOf(trx, email))

/** Stores that a session at the provider signed an account in. */
export async function storeProviderSession(
  db: Kysely<Schema>,
  userId: string,
  sid: string,
): Promise<void> {
  await sql`
    delete from identity_provider_session
    where user_id = ${userId} and created_at < now() - make_interval(days => ${keptDays})`.execute(
    db,
  )
  await sql`
    insert into identity_provider_session (sid_hash, user_id) values (${hashOf(sid)}, ${userId})
    on conflict (sid_hash) do update set user_id = excluded.user_id, created_at = now()`.execute(db)
}

interface EndedSessions {
  issuer: string
  sub: string | undefined
  sid: string | undefined
}

/**
 * Ends all sessions of the account of a subject, or of the one that a session at the provider has signed in. Returns
 * whether there is such an account.
 */
export async function endSessions(
  db: Kysely<Schema>,
  { issuer, sub, sid }: EndedSessions,
): Promise<boolean> {
  const accountId = sub === undefined ? null : accountIdOf(issuer, sub)
  const sidHash = sid === undefined ? null : hashOf(sid)
  const { rows } = await sql<{ id: string }>`
    select user_id as id from auth_account
    where provider_id = ${providerId} and account_id = ${accountId}
    union select user_id from identity_provider_session where sid_hash = ${sidHash}`.execute(db)
  for (const { id } of rows) await endAccess(db, id)
  return rows.length > 0
}
