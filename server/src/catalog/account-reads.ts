import { sql, type Kysely } from 'kysely'
import type { AccountReads } from './account-catalog'
import { readOrganizationBudgets } from './organization-budgets'
import { noOffer, readOffer, type OfferOptions } from './offer'
import { DataLoader } from '../platform/data-loader'
import type { Database } from '../platform/db/database'
import type { Schema } from '../platform/db/schema'

/** Reads from the database. */
export function createAccountReads(
  { query: db, liveness }: Pick<Database, 'query' | 'liveness'>,
  options: OfferOptions,
): AccountReads {
  const nonEmptyAccounts = new DataLoader<string, boolean>({
    answer: async (userIds) => {
      const nonEmpty = await findNonEmptyAccounts(db, userIds)
      return userIds.map((id) => nonEmpty.has(id))
    },
    timeoutMs: () => liveness.maxLookUpMs,
  })
  const account = async (userId: string) =>
    (await nonEmptyAccounts.load(userId)) ? readAccount(db, userId, options) : emptyAccount
  return {
    account: (userId) => liveness.lookUp(account(userId)),
    organization: (id) => liveness.lookUp(readOrganization(db, id, options)),
    offeredToOthers: (userId, provider) =>
      liveness.lookUp(readOfferedToOthers(db, userId, provider)),
  }
}

/** The entry of all accounts without connections and memberships. */
const emptyAccount: Awaited<ReturnType<AccountReads['account']>> = {
  own: noOffer,
  memberships: [],
  fundedBy: null,
}

/**
 * Finds the accounts that have a connection of their own, a membership, or a plan that the platform pays for: few do.
 */
async function findNonEmptyAccounts(
  db: Kysely<Schema>,
  userIds: readonly string[],
): Promise<Set<string>> {
  const { rows } = await sql<{ id: string }>`
    select user_id as id from connection where user_id = any(${userIds}::text[])
    union
    select user_id from membership where user_id = any(${userIds}::text[])
    union
    select users.id from users join plan on plan.id = users.plan_id and plan.house_pays
    where users.id = any(${userIds}::text[])`.execute(db)
  return new Set(rows.map(({ id }) => id))
}

async function readAccount(db: Kysely<Schema>, userId: string, options: OfferOptions) {
  const [own, user, memberships] = await Promise.all([
    readOffer(db, { column: 'user_id', id: userId }, options),
    db
      .selectFrom('users')
      .innerJoin('plan', 'plan.id', 'users.plan_id')
      .select(['funding_organization_id', 'plan.house_pays'])
      .where('users.id', '=', userId)
      .executeTakeFirst(),
    db
      .selectFrom('membership')
      .select(['organization_id', 'role', 'status', 'is_primary', 'spending_limit', 'department'])
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
      spendingLimit: row.spending_limit,
      department: row.department,
    })),
    fundedBy: user?.funding_organization_id ?? null,
    housePays: user?.house_pays ?? false,
  }
}

async function readOrganization(db: Kysely<Schema>, id: string, options: OfferOptions) {
  const row = await db
    .selectFrom('organization')
    .innerJoin('plan', 'plan.id', 'organization.plan_id')
    .selectAll('organization')
    .select([
      'plan.requests_per_minute as plan_requests',
      'plan.tokens_per_minute as plan_tokens',
      'plan.images_per_minute as plan_images',
      'plan.audio_seconds_per_minute as plan_audio_seconds',
      'plan.max_concurrent_requests as plan_running',
      'plan.monthly_requests',
      'plan.monthly_spend as plan_spend',
    ])
    .where('organization.id', '=', id)
    .where('status', '=', 'active')
    .executeTakeFirst()
  if (!row) return undefined
  const [offer, budgets] = await Promise.all([
    readOffer(db, { column: 'organization_id', id }, options),
    readOrganizationBudgets(db, id),
  ])
  return {
    offer,
    // The plan may allow less by now than when the limits were set.
    limits: {
      requestsPerMinute: Math.min(row.requests_per_minute, row.plan_requests ?? Infinity),
      tokensPerMinute: Math.min(row.tokens_per_minute, row.plan_tokens ?? Infinity),
      imagesPerMinute: lower(row.images_per_minute, row.plan_images),
      audioSecondsPerMinute: lower(row.audio_seconds_per_minute, row.plan_audio_seconds),
      maxConcurrentRequests: Math.min(row.max_concurrent_requests, row.plan_running ?? Infinity),
      monthlyRequests: row.monthly_requests,
      monthlySpend: lower(row.monthly_spend_limit, row.plan_spend),
      memberSpend: row.default_member_spending_limit,
      budgets,
    },
  }
}

const lower = <Limit extends bigint | number>(one: Limit | null, other: Limit | null) =>
  one === null || (other !== null && other < one) ? other : one

async function readOfferedToOthers(db: Kysely<Schema>, userId: string, provider: string) {
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
