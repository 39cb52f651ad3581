import type { Kysely } from 'kysely'
import type { Schema } from '../db/schema'

export interface Mail {
  recipient: string
  subject: string
  /** Plain text. */
  body: string
  /** Of several mails with one reference, only the first is sent. */
  reference?: string
  /** The time for which sending is tried, in milliseconds; a day by default. */
  lifeMs?: number
}

/** Writes a mail that a job sends later; in a transaction, only when that is committed. */
export async function postMail(
  db: Kysely<Schema>,
  { lifeMs, reference, ...mail }: Mail,
): Promise<void> {
  await db
    .insertInto('mail')
    .values({
      ...mail,
      reference: reference ?? null,
      ...(lifeMs !== undefined && { expires_at: new Date(Date.now() + lifeMs) }),
    })
    .onConflict((conflict) => conflict.column('reference').doNothing())
    .execute()
}
