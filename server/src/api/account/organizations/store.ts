import { randomInt } from 'node:crypto'
import { sql, type Kysely, type Selectable, type Transaction } from 'kysely'
import { organizationCounts, toVisibleOrganization, type VisibleRow } from './rows'
import type { ChangedOrganization, NewOrganization } from './schema'
import { recordOrganization, recordedOrganization, toRecordedOrganization } from './audit-fields'
import type { Principal } from '../../../auth/principal'
import { managers, requireRole } from '../../../auth/roles'
import type { Catalog } from '../../../catalog/catalog'
import { lockAccount } from '../../../platform/db/account-row'
import { isId, newId } from '../../../platform/db/id'
import { refuseHeldOrganization } from '../../../platform/db/legal-hold'
import type { MembershipRow, Schema } from '../../../platform/db/schema'
import { isUniqueViolation } from '../../../platform/db/violation'
import { ApiError, invalidRequest } from '../../../errors'
import { present, toTimestamp } from '../../../http/fields'
import { checkReserved, isReserved } from '../../../http/public-name'
import { toUsd } from '../../../wire/usd'

export interface OrganizationPorts {
  db: Kysely<Schema>
  catalog: Catalog
  /** Called when an account or an organization was changed. */
  changed: (ownerId: string) => void
}

type Row = VisibleRow &
  Pick<Selectable<MembershipRow>, 'role' | 'is_primary'> & {
    member_status: MembershipRow['status']
  }

const toBrief = (row: Row) => ({
  id: row.id,
  name: row.name,
  slug: row.slug,
  role: row.role,
  status: row.member_status,
  member_count: Number(row.members),
  is_primary: row.is_primary,
  created_at: toTimestamp(row.created_at),
})

const toOrganization = (row: Row) => ({
  ...toBrief(row),
  ...toVisibleOrganization(row),
  credit_balance: managers.includes(row.role) ? toUsd(row.posted) : null,
})

/** Selects the organizations of an account, with any membership status. */
const ofMember = (db: Kysely<Schema>, userId: string) =>
  db
    .selectFrom('membership')
    .innerJoin('organization', 'organization.id', 'membership.organization_id')
    .innerJoin('public_name', 'public_name.organization_id', 'organization.id')
    .innerJoin('plan', 'plan.id', 'organization.plan_id')
    .selectAll('organization')
    .select(['membership.role', 'membership.is_primary', 'membership.status as member_status'])
    .select(organizationCounts)
    .where('membership.user_id', '=', userId)

/** Finds the organization of an active member. Rejects with `resource_not_found` for all other callers. */
async function findOwn(db: Kysely<Schema>, userId: string, id: string): Promise<Row> {
  if (!isId('org', id)) throw new ApiError('resource_not_found')
  const row = await ofMember(db, userId)
    .where('organization.id', '=', id)
    .where('membership.status', '=', 'active')
    .executeTakeFirst()
  if (!row) throw new ApiError('resource_not_found')
  return row
}

export type OrganizationStore = ReturnType<typeof createOrganizationStore>

/** Organizations, for their members. Source: contract 7.4. */
export function createOrganizationStore(ports: OrganizationPorts) {
  const { db, changed } = ports
  return {
    async list({ userId }: Principal) {
      const rows = await ofMember(db, userId).orderBy('organization.id', 'desc').execute()
      return { organizations: rows.map(toBrief) }
    },
    get: async ({ userId }: Principal, id: string) => toOrganization(await findOwn(db, userId, id)),
    async create({ userId }: Principal, fields: NewOrganization) {
      const id = await insert(ports, userId, fields)
      changed(userId)
      return toOrganization(await findOwn(db, userId, id))
    },
    async change({ userId }: Principal, id: string, fields: ChangedOrganization) {
      const row = await findOwn(db, userId, id)
      requireRole(row.role, fields.slug === undefined ? managers : ['owner'])
      await checkRates(db, row, fields)
      await update(ports, row, fields)
      changed(id)
      return toOrganization(await findOwn(db, userId, id))
    },
    async delete({ userId }: Principal, id: string) {
      const row = await findOwn(db, userId, id)
      requireRole(row.role, ['owner'])
      const members = await remove(db, id)
      for (const member of [id, ...members]) changed(member)
      return { success: true as const, message: 'The organization was deleted.' }
    },
  }
}

/** Derives a slug from a name: only allowed characters, and short enough for a unique suffix. */
function slugFrom(name: string): string {
  const plain = name.normalize('NFKD').toLowerCase()
  const slug = plain.replaceAll(/[^a-z0-9]+/g, '-').replace(/^[^a-z]+/, '')
  const short = slug.slice(0, 24).replace(/-+$/, '')
  return short.length >= 3 ? short : `org-${short}`.replace(/-+$/, '')
}

const maxAttempts = 5

async function insert(ports: OrganizationPorts, userId: string, fields: NewOrganization) {
  const { snapshot } = ports.catalog
  const { slug: requestedSlug, ...columns } = fields
  if (requestedSlug !== undefined) checkReserved('slug', requestedSlug, snapshot.providers)
  const derivedSlug = slugFrom(fields.name)
  for (let remainingAttempts = maxAttempts; ; remainingAttempts--) {
    const isDerived = requestedSlug === undefined
    const isFirst =
      remainingAttempts === maxAttempts && !isReserved(derivedSlug, snapshot.providers)
    const slug =
      requestedSlug ?? (isFirst ? derivedSlug : `${derivedSlug}-${randomInt(1000, 100_000)}`)
    try {
      return await insertAs(ports.db, userId, { ...columns, slug })
    } catch (thrown) {
      if (!isUniqueViolation(thrown)) throw thrown
      if (!isDerived || remainingAttempts === 0) throw slugTaken(slug)
    }
  }
}

export const slugTaken = (slug: string) =>
  invalidRequest('slug', 'taken', `slug: "${slug}" is taken by an organization or a handle.`)

const insertAs = (
  db: Kysely<Schema>,
  userId: string,
  { slug, ...columns }: Omit<NewOrganization, 'slug'> & { slug: string },
) =>
  db.transaction().execute(async (trx) => {
    const { email } = await lockAccount(trx, userId)
    await checkOwnsNone(trx, userId)
    const id = newId('org')
    await trx
      .insertInto('organization')
      .values({ id, billing_email: email, ...present(columns), name: columns.name })
      .execute()
    await trx.insertInto('public_name').values({ name: slug, organization_id: id }).execute()
    await trx
      .insertInto('membership')
      .values({
        organization_id: id,
        user_id: userId,
        role: 'owner',
        status: 'active',
        is_primary: await hasNoPrimary(trx, userId),
        joined_at: new Date(),
      })
      .execute()
    await recordOrganization(trx, 'organization.created', {
      id,
      after: await toRecordedOrganization(trx, id),
    })
    return id
  })

/** Whether the next organization in which an account becomes active becomes its primary one. */
export async function hasNoPrimary(trx: Transaction<Schema>, userId: string): Promise<boolean> {
  const primary = await trx
    .selectFrom('membership')
    .select('user_id')
    .where('user_id', '=', userId)
    .where('is_primary', '=', true)
    .executeTakeFirst()
  return primary === undefined
}

/** An account can own at most one organization. Source: contract 3.3. */
export async function checkOwnsNone(trx: Transaction<Schema>, userId: string): Promise<void> {
  const owned = await trx
    .selectFrom('membership')
    .select('user_id')
    .where('user_id', '=', userId)
    .where('role', '=', 'owner')
    .executeTakeFirst()
  if (!owned) return
  throw invalidRequest(null, 'limit_reached', 'An account can own at most one organization.')
}

/** Limits rates to those of the plan. */
async function checkRates(db: Kysely<Schema>, row: Row, fields: ChangedOrganization) {
  const plan = await db
    .selectFrom('plan')
    .selectAll()
    .where('id', '=', row.plan_id)
    .executeTakeFirstOrThrow()
  const maximums = {
    rate_limit_requests_per_minute: plan.requests_per_minute,
    rate_limit_tokens_per_minute: plan.tokens_per_minute,
    rate_limit_images_per_minute: plan.images_per_minute,
    rate_limit_audio_seconds_per_minute: plan.audio_seconds_per_minute,
    max_concurrent_requests: plan.max_concurrent_requests,
  }
  for (const name of [
    'rate_limit_requests_per_minute',
    'rate_limit_tokens_per_minute',
    'rate_limit_images_per_minute',
    'rate_limit_audio_seconds_per_minute',
    'max_concurrent_requests',
  ] as const) {
    const [value, limit] = [fields[name], maximums[name]]
    if (value === undefined || value === null || limit === null || value <= limit) continue
    throw invalidRequest(name, 'out_of_range', `${name}: the plan allows at most ${limit}.`)
  }
}

async function update({ db, catalog }: OrganizationPorts, row: Row, fields: ChangedOrganization) {
  const {
    slug,
    rate_limit_requests_per_minute: requests_per_minute,
    rate_limit_tokens_per_minute: tokens_per_minute,
    rate_limit_images_per_minute: images_per_minute,
    rate_limit_audio_seconds_per_minute: audio_seconds_per_minute,
    ...columns
  } = fields
  if (slug !== undefined && slug !== row.slug) {
    checkReserved('slug', slug, catalog.snapshot.providers)
  }
  await recordedOrganization(db, row.id, async (trx) => {
    await trx
      .updateTable('organization')
      .set({
        ...present({
          ...columns,
          requests_per_minute,
          tokens_per_minute,
          images_per_minute,
          audio_seconds_per_minute,
        }),
        updated_at: new Date(),
      })
      .where('id', '=', row.id)
      .execute()
    if (slug === undefined) return
    await trx
      .updateTable('public_name')
      .set({ name: slug })
      .where('organization_id', '=', row.id)
      .execute()
      .catch((thrown: unknown) => {
        throw isUniqueViolation(thrown) ? slugTaken(slug) : thrown
      })
  })
}

/** Deletes an organization, and resolves with its members. Credit on hold is part of the posted balance. */
export const remove = (db: Kysely<Schema>, id: string) =>
  db.transaction().execute(async (trx) => {
    // Locks the organization first, as all changes of members do.
    await trx.selectFrom('organization').select('id').where('id', '=', id).forUpdate().execute()
    await refuseHeldOrganization(trx, id)
    const { rows } = await sql<{ posted: bigint }>`
      select posted from credit_account where id = ${id} for update`.execute(trx)
    if (rows[0]?.posted !== 0n) {
      const message =
        'The organization still has credit. Spend it, or ask the operator to adjust the balance.'
      throw invalidRequest(null, 'wrong_state', message)
    }
    await sql`
      select id from users
      where id in (select user_id from membership where organization_id = ${id})
      order by id for no key update`.execute(trx)
    await recordOrganization(trx, 'organization.deleted', {
      id,
      before: await toRecordedOrganization(trx, id),
    })
    const members = await trx
      .deleteFrom('membership')
      .where('organization_id', '=', id)
      .returning('user_id')
      .execute()
    await trx.deleteFrom('company').where('account_id', '=', id).execute()
    await trx.deleteFrom('organization').where('id', '=', id).execute()
    return members.map((member) => member.user_id)
  })
