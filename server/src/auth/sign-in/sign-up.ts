import { APIError } from 'better-auth/api'
import type { Kysely } from 'kysely'
import type { Schema } from '../../platform/db/schema'
import { isOneLine, toOneLine } from '../../wire/one-line'

const maxName = 100

/** Permits sign-ups of everyone, of invited addresses, or of no one. */
export type SignUpPolicy = 'open' | 'invite' | 'closed'

/** Throws for a name that is not one line of 1 to 100 characters. */
export function checkName(name: unknown): void {
  if (name === undefined) return
  const isValid = typeof name === 'string' && isOneLine(name) && name.trim().length <= maxName
  if (isValid && name.trim() !== '') return
  const message = `The name must be one line of 1 to ${maxName} characters.`
  throw new APIError('BAD_REQUEST', { code: 'INVALID_NAME', message })
}

/** Returns the name of an external account, which may hold anything, as an account has it. */
export const toAccountName = (name: string) => toOneLine(name, maxName) || 'Unnamed'

/** Throws where accounts are created by invitation only, or not at all. */
export async function checkSignUp(
  db: Kysely<Schema>,
  policy: SignUpPolicy,
  email: string,
): Promise<void> {
  if (policy === 'open') return
  if (policy === 'invite' && (await isInvited(db, email))) return
  const message =
    'Accounts are created by invitation only. Ask the operator of this service for one.'
  throw new APIError('FORBIDDEN', { code: 'SIGN_UP_CLOSED', message })
}

/** Whether an organization has invited the address. */
async function isInvited(db: Kysely<Schema>, email: string): Promise<boolean> {
  const invitation = await db
    .selectFrom('invitation')
    .select('id')
    .where('email', '=', email.toLowerCase())
    .where('status', '=', 'pending')
    .where('expires_at', '>', new Date())
    .executeTakeFirst()
  return invitation !== undefined
}
