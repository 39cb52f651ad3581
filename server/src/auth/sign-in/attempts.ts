import { sql, type Kysely } from 'kysely'
import { hashOf } from './link'
import { newId } from '../../platform/db/id'
import type { Schema } from '../../platform/db/schema'

interface AttemptLimit {
  max: number
  /** The count that paths share: all paths that send mail have one. */
  counter: 'password' | 'mail'
}

const windowSeconds = 15 * 60

/**
 * Limits the attempts for one account across all clients: passwords are guessed from many addresses, and mails are a
 * nuisance. Second factors have a count of the library's own.
 */
const attemptLimits: Readonly<Record<string, AttemptLimit>> = {
  '/sign-in/email': { max: 30, counter: 'password' },
  '/sign-in/magic-link': { max: 10, counter: 'mail' },
  '/sign-up/email': { max: 10, counter: 'mail' },
  '/request-password-reset': { max: 10, counter: 'mail' },
  '/send-verification-email': { max: 10, counter: 'mail' },
}

/** Whether the endpoint at a path of the library sends a mail. */
export const isMailPath = (path: string | undefined): boolean =>
  path !== undefined && attemptLimits[path]?.counter === 'mail'

/**
 * Counts an attempt at a sign-in path that names an account by its mail address, whether the account exists or not.
 * After too many, resolves with the seconds until the next one is allowed; on every node alike.
 */
export async function countAttempt(
  db: Kysely<Schema>,
  path: string,
  email: unknown,
): Promise<number | undefined> {
  const rule = attemptLimits[path]
  if (!rule || typeof email !== 'string') return undefined
  // The address is hashed, as it is personal data here and may be as long as a body.
  return count(db, `account:${rule.counter}:${hashOf(email.trim().toLowerCase())}`, rule.max)
}

/** The limit on the sign-in links that operators create for one account. */
export const linkLimit = { max: 10, windowSeconds }

/** Counts a sign-in link that an operator creates for an account, as `countAttempt` counts. */
export const countLink = (db: Kysely<Schema>, userId: string): Promise<number | undefined> =>
  count(db, `account:link:${userId}`, linkLimit.max)

async function count(db: Kysely<Schema>, key: string, max: number): Promise<number | undefined> {
  const now = sql`(extract(epoch from now()) * 1000)::bigint`
  const isOver = sql`auth_rate_limit.last_request <= ${now} - ${windowSeconds * 1000}`
  const { rows } = await sql<{ count: number; rest: number }>`
    insert into auth_rate_limit (id, key, count, last_request) values (${newId('sess')}, ${key}, 1, ${now})
    on conflict (key) do update set
      count = case when ${isOver} then 1 else auth_rate_limit.count + 1 end,
      last_request = case when ${isOver} then ${now} else auth_rate_limit.last_request end
    returning count,
      ceil((last_request + ${windowSeconds * 1000} - ${now}) / 1000.0)::int as rest`.execute(db)
  const [row] = rows
  return row && row.count > max ? Math.max(1, row.rest) : undefined
}
