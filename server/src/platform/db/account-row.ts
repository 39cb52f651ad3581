import { sql, type Kysely } from 'kysely'
import { isId, type IdPrefix } from './id'
import type { Schema } from './schema'
import { ApiError } from '../../errors'

/**
 * Locks an account's row until the transaction ends, so that concurrent changes that create, join or count something
 * for an account run one after another. Rejects with `resource_not_found` if the account does not exist.
 */
export const lockAccount = (trx: Kysely<Schema>, userId: string) =>
  trx
    .selectFrom('users')
    .select(['email', 'email_verified', 'display_name'])
    .where('id', '=', userId)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow(() => new ApiError('resource_not_found'))

/**
 * Locks the row of an owner, an organization or an account, as `lockAccount` does: concurrent changes for it are
 * counted one after another. Rejects with `resource_not_found` if it does not exist.
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

/** The owner of a row: exactly one of the two is set. */
export interface Owner {
  user_id: string | null
  organization_id: string | null
}

export const ofAccount = (id: string): Owner => ({ user_id: id, organization_id: null })
export const ofOrganization = (id: string): Owner => ({ user_id: null, organization_id: id })

/** Returns the condition that a row belongs to an owner: in each statement on what it owns. */
export const isOwnedBy = ({ user_id: userId, organization_id: organizationId }: Owner) =>
  organizationId === null
    ? sql<boolean>`user_id = ${userId}`
    : sql<boolean>`organization_id = ${organizationId}`

/**
 * Returns the row with this id, as `find` reads it. Rejects with `resource_not_found` if there is none; a text that is
 * not an id of that kind causes no query.
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
