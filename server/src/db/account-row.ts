import type { Kysely } from 'kysely'
import { isId, type IdPrefix } from './id'
import type { Schema } from './schema'
import { ApiError } from '../errors'

/**
 * Locks an account's row until the transaction ends: what an account makes, joins and counts at once
 * follows one another. Rejects with `resource_not_found` where there is no such account.
 */
export const lockAccount = (trx: Kysely<Schema>, userId: string) =>
  trx
    .selectFrom('users')
    .select(['email', 'email_verified', 'display_name'])
    .where('id', '=', userId)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow(() => new ApiError('resource_not_found'))

/**
 * The same for whoever owns something, an organization or an account: what is made for it at once is
 * counted one after the other. Rejects with `resource_not_found` where there is none.
 */
export const lockOwner = (
  trx: Kysely<Schema>,
  { user_id: userId, organization_id: organizationId }: Owner,
) =>
  trx
    .selectFrom(organizationId === null ? 'users' : 'organization')
    .select('id')
    .where('id', '=', organizationId ?? userId)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow(() => new ApiError('resource_not_found'))

/** One of the two is set. */
interface Owner {
  user_id: string | null
  organization_id: string | null
}

/**
 * The row that an id names, as `find` reads it. Rejects with `resource_not_found` where there is none,
 * without asking for what is no id of that kind.
 */
export async function requireRow<Row>(
  prefix: IdPrefix,
  id: string,
  find: () => Promise<Row | undefined>,
): Promise<Row> {
  const row = isId(prefix, id) ? await find() : undefined
  if (row === undefined) throw new ApiError('resource_not_found')
  return row
}
