import { sql, type Kysely } from 'kysely'
import type { AccountReads } from './account-catalog'
import { nothing, readOffer, type OfferOptions } from './offer'
import { within } from '../db/deadline'
import type { Schema } from '../db/schema'

/** A caller is refused within a second. */
const patienceMs = 900

/** Reads from the database. */
export const accountReadsIn = (db: Kysely<Schema>, options: OfferOptions): AccountReads => ({
  account: (userId) => within(readAccount(db, userId, options), patienceMs),
  organization: (id) => within(readOrganization(db, id, options), patienceMs),
  offeredElsewhere: (userId, provider) =>
    within(readOfferedElsewhere(db, userId, provider), patienceMs),
})

async function readAccount(db: Kysely<Schema>, userId: string, options: OfferOptions) {
  const [own, memberships] = await Promise.all([
    readOffer(db, { column: 'user_id', id: userId }, options),
    db
      .selectFrom('membership')
      .select(['organization_id', 'role', 'status', 'is_primary'])
      .where('user_id', '=', userId)
      .orderBy('is_primary', 'desc')
      .orderBy('created_at')
      .orderBy('organization_id')
      .execute(),
  ])
  return {
    own,
    memberships: memberships.map((row) => ({
      organizationId: row.organization_id,
      role: row.role,
      status: row.status,
      isPrimary: row.is_primary,
    })),
  }
}

async function readOrganization(db: Kysely<Schema>, id: string, options: OfferOptions) {
  const organization = await db
    .selectFrom('organization')
    .select('id')
    .where('id', '=', id)
    .where('status', '=', 'active')
    .executeTakeFirst()
  return organization ? readOffer(db, { column: 'organization_id', id }, options) : nothing
}

async function readOfferedElsewhere(db: Kysely<Schema>, userId: string, provider: string) {
  const { rows } = await sql<{ isOffered: boolean }>`
    select exists (
      select from connection
      join organization on organization.id = connection.organization_id
      left join membership on membership.organization_id = organization.id
        and membership.user_id = ${userId}
      where connection.provider = ${provider} and connection.status = 'active'
        and organization.status = 'active'
        and membership.status is distinct from 'active'
        and (organization.is_public or membership.user_id is not null)
    ) as "isOffered"`.execute(db)
  return rows[0]?.isOffered === true
}
