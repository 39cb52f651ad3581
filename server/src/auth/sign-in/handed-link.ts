import type { Kysely } from 'kysely'
import { countLink, linkLimit } from './attempts'
import { createSignInLink } from './link'
import { ApiError, invalidRequest } from '../../errors'
import type { Schema } from '../../platform/db/schema'

const lifeMs = 3_600_000

/** An account that an operator names. */
export interface LinkedAccount {
  id: string
  email: string
  status: 'active' | 'suspended'
}

/** Creates a link that an operator hands to the owner of an account: it signs in once, within an hour. */
export async function createHandedLink(
  db: Kysely<Schema>,
  { email }: Pick<LinkedAccount, 'email'>,
  address: string,
) {
  const expiresAt = new Date(Date.now() + lifeMs)
  const link = await createSignInLink(db, { email, address, lifeMs })
  return { link, expires_at: expiresAt.toISOString() }
}

/**
 * Creates such a link at the request of an operator. Rejects with `invalid_request` for a suspended account, and with
 * `rate_limit_exceeded` after too many links for one account.
 */
export async function createCountedLink(
  db: Kysely<Schema>,
  account: LinkedAccount,
  address: string,
) {
  if (account.status !== 'active') {
    throw invalidRequest(null, 'wrong_state', 'The account is suspended. Reinstate it first.')
  }
  const seconds = await countLink(db, account.id)
  if (seconds !== undefined) {
    const { max, windowSeconds } = linkLimit
    throw new ApiError('rate_limit_exceeded', {
      message: `The limit is ${max} sign-in links per account in ${windowSeconds / 60} minutes. Retry after the time in Retry-After.`,
      details: { limit: max, window: windowSeconds, retry_after: seconds },
      retryAfterSeconds: seconds,
      quota: { limit: max, remaining: 0, resetAtMs: Date.now() + seconds * 1000 },
    })
  }
  return createHandedLink(db, account, address)
}

/** Returns the account with an id or an e-mail address; undefined for none. */
export const findLinkedAccount = (
  db: Kysely<Schema>,
  idOrEmail: string,
): Promise<LinkedAccount | undefined> =>
  db
    .selectFrom('users')
    .select(['id', 'email', 'status'])
    .where((is) =>
      is.or([
        is('id', '=', idOrEmail),
        is(is.fn('lower', ['email']), '=', idOrEmail.toLowerCase()),
      ]),
    )
    .executeTakeFirst()
