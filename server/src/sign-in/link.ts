import { createHash, randomBytes } from 'node:crypto'
import type { Kysely } from 'kysely'
import { welcomeMail } from './mails'
import { newId } from '../db/id'
import type { Schema } from '../db/schema'
import { postMail } from '../mail/outbox'

const dayMs = 86_400_000
const invitationMs = 7 * dayMs

/** What is kept of a link's token. */
export const hashOf = (token: string) => createHash('sha256').update(token).digest('base64url')

interface Wanted {
  email: string
  /** Where the service is reached, without a final slash. */
  address: string
  lifeMs: number
}

/**
 * A link that signs the account of an address in, once. Written as better-auth's plugin for such links
 * writes its own, so that nobody has to load the library before somebody signs in.
 */
export async function linkFor(
  db: Kysely<Schema>,
  { email, address, lifeMs }: Wanted,
): Promise<string> {
  const token = randomBytes(24).toString('base64url')
  await db
    .insertInto('auth_verification')
    .values({
      id: newId('sess'),
      identifier: `magic-link:${hashOf(token)}`,
      value: JSON.stringify({ type: 'magic-link', email }),
      expires_at: new Date(Date.now() + lifeMs),
    })
    .execute()
  return `${address}/api/auth/magic-link/verify?token=${token}&callbackURL=%2F`
}

/** Invites the owner of an account that an operator made. */
export async function inviteOwner(
  db: Kysely<Schema>,
  user: { email: string; display_name: string },
  address: string,
): Promise<void> {
  const { email, display_name: name } = user
  const link = await linkFor(db, { email, address, lifeMs: invitationMs })
  await postMail(db, { ...welcomeMail({ email, name }, link), lifeMs: invitationMs })
}
