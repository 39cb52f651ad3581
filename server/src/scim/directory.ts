import { sql, type Kysely, type Transaction } from 'kysely'
import { notFound } from './scim-error'
import { hashOf } from '../auth/api-key'
import type { Schema } from '../platform/db/schema'

/** A directory of an identity provider, as its token opens it. */
export interface ProvisioningDirectory {
  id: string
  /** The organization whose it is; null for one of the installation. */
  organizationId: string | null
  /** The domains of the addresses that it may use. */
  domains: readonly string[]
}

/** Finds the directory of a token, at each request: a token that was replaced or deleted is none at once. */
export async function findDirectory(
  db: Kysely<Schema>,
  token: string,
): Promise<ProvisioningDirectory | undefined> {
  const row = await db
    .selectFrom('scim_directory')
    .leftJoin('organization', 'organization.id', 'scim_directory.organization_id')
    .select(['scim_directory.id', 'organization_id', 'domains', 'last_used_at'])
    .where('token_hash', '=', hashOf(token))
    // The directory of a suspended organization changes nothing.
    .where((is) =>
      is.or([is('organization_id', 'is', null), is('organization.status', '=', 'active')]),
    )
    .executeTakeFirst()
  if (!row) return undefined
  if (isOld(row.last_used_at)) await noteUse(db, row.id)
  return { id: row.id, organizationId: row.organization_id, domains: row.domains }
}

/** The use of a token is noted once a minute. */
const noteMs = 60_000

const isOld = (time: Date | null) => time === null || Date.now() - time.getTime() > noteMs

/** Notes the use of a token, unless a change holds the directory. */
const noteUse = (db: Kysely<Schema>, id: string) =>
  sql`
    update scim_directory set last_used_at = now() where id in (
      select id from scim_directory where id = ${id} for no key update skip locked
    )`.execute(db)

/** Runs a change of a directory's users or groups: one at a time in each directory. */
export const changeDirectory = <Result>(
  db: Kysely<Schema>,
  { id }: Pick<ProvisioningDirectory, 'id'>,
  change: (trx: Transaction<Schema>) => Promise<Result>,
): Promise<Result> =>
  db.transaction().execute(async (trx) => {
    await trx
      .selectFrom('scim_directory')
      .select('id')
      .where('id', '=', id)
      .forNoKeyUpdate()
      .executeTakeFirstOrThrow(notFound)
    return change(trx)
  })
