import { sql, type Selectable } from 'kysely'
import type { OrganizationRow } from '../../../platform/db/schema'
import { toTimestamp } from '../../../http/fields'
import { toUsdOrNull } from '../../../wire/usd'

/** Aggregates of an organization as it is shown. */
interface OrganizationCounts {
  /** Active members. */
  members: bigint
  max_members: number
  /** Nano-dollars. */
  posted: bigint
}

export type VisibleRow = Selectable<OrganizationRow> & OrganizationCounts & { slug: string }

/** For queries of `organization` with its `public_name` and its `plan`. */
export const organizationCounts = [
  sql<string>`public_name.name`.as('slug'),
  sql<bigint>`(
    select count(*) from membership as other
    where other.organization_id = organization.id and other.status = 'active'
  )`.as('members'),
  sql<number>`coalesce(organization.member_limit, plan.max_org_members)`.as('max_members'),
  sql<bigint>`(select posted from credit_account where id = organization.id)`.as('posted'),
] as const

/** Shows the fields that members and operators both see. Source: contract 7.4. */
export const toVisibleOrganization = (row: VisibleRow) => ({
  id: row.id,
  name: row.name,
  slug: row.slug,
  description: row.description,
  website: row.website,
  is_public: row.is_public,
  provider_kind: row.provider_kind,
  member_count: Number(row.members),
  member_limit: row.max_members,
  allow_join_requests: row.allow_join_requests,
  auto_approve_requests: row.auto_approve_requests,
  auto_approve_domains: row.auto_approve_domains,
  rate_limit_requests_per_minute: row.requests_per_minute,
  rate_limit_tokens_per_minute: row.tokens_per_minute,
  rate_limit_images_per_minute: row.images_per_minute,
  rate_limit_audio_seconds_per_minute: row.audio_seconds_per_minute,
  max_concurrent_requests: row.max_concurrent_requests,
  monthly_spend_limit: toUsdOrNull(row.monthly_spend_limit),
  default_member_spending_limit: toUsdOrNull(row.default_member_spending_limit),
  billing_email: row.billing_email,
  audit_retention_months: row.audit_retention_months,
  created_at: toTimestamp(row.created_at),
  updated_at: toTimestamp(row.updated_at),
})
