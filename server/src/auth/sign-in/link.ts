import { createHash, randomBytes } from 'node:crypto'
import { sql, type Kysely } from 'kysely'
import { welcomeMail } from './mails'
import { newId } from '../../platform/db/id'
import { waitForLock } from '../../platform/db/advisory-lock'
import type { Schema } from '../../platform/db/schema'
import { postMail } from '../../platform/mail/outbox'

const dayMs = 86_400_000
const prefix = 'magic-link:'
const invitationMs = 7 * dayMs

/** Returns the stored form of a link's token. */
export const hashOf = (token: string) => createHash('sha256').update(token).digest('base64url')

interface LinkRequest {
  email: string
  /** The base URL of the service, without a final slash. */
  address: string
  lifeMs: number
}

/**
 * Creates a link that signs in the account of an address, once. Earlier links for the address no longer work. The row
 * has the form that better-auth's plugin for such links writes, so that the library need not be loaded before the
 * first sign-in.
 */
export async function createSignInLink(
  db: Kysely<Schema>,
  { email, address, lifeMs }: LinkRequest,
): Promise<string> {
  const token = randomBytes(24).toString('base64url')
  await db.transaction().execute(async (trx) => {
    // Concurrent requests run one after the other, so that only one link remains.
    await waitForLock(trx, 'signInLink', email.toLowerCase())
    await endLinks(trx, email)
    await trx
      .insertInto('auth_verification')
      .values({
        id: newId('sess'),
        identifier: `${prefix}${hashOf(token)}`,
        value: JSON.stringify({ type: 'magic-link', email }),
        expires_at: new Date(Date.now() + lifeMs),
      })
      .execute()
  })
  return `${address}/api/auth/magic-link/verify?token=${token}&callbackURL=%2F`
}

/** Ends all sign-in links of an address, mailed ones too: the library writes them in the same form. */
export const endLinks = async (db: Kysely<Schema>, email: string): Promise<void> =>
  void (await sql`
    delete from auth_verification
    where case when identifier like ${`${prefix}%`} then lower(value::jsonb ->> 'email') end
      = ${email.toLowerCase()}`.execute(db))

/** Invites the owner of an account that an operator created. */
export async function inviteOwner(
  db: Kysely<Schema>,
  { email }: { email: string },
  address: string,
): Promise<void> {
  const link = await createSignInLink(db, { email, address, lifeMs: invitationMs })
  await postMail(db, { ...welcomeMail({ email }, link), lifeMs: invitationMs })
}
