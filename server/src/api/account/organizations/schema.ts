import { z } from 'zod'
import { roles } from '../../../auth/roles'
import { objectId } from '../../../http/answers'
import { Pagination } from '../../../http/paging'
import { line } from '../../../http/fields'
import { usd } from '../../../wire/usd'
import { limit } from '../../../platform/integer'
import { auditMonths } from '../../../platform/settings/setting-kinds'
import { publicName } from '../../../http/public-name'

const providerKinds = [
  'cloud_provider',
  'enterprise_it',
  'research_institution',
  'startup',
] as const

const statuses = ['pending', 'active', 'suspended'] as const

/** The domain of e-mail addresses, in lower case. */
const domain = z
  .string()
  .trim()
  .toLowerCase()
  .max(253)
  .regex(/^(?:[a-z\d](?:[a-z\d-]{0,61}[a-z\d])?\.)+[a-z][a-z\d-]{0,61}[a-z\d]$/, {
    error: 'must be a domain such as example.com.',
  })

const website = z.url({ protocol: /^https?$/ }).max(300)
const description = z.string().trim().max(1000)

/** Source: contract 7.4. */
export const NewOrganization = z
  .object({
    name: line(100, 2),
    slug: publicName.optional(),
    description: description.optional(),
    website: website.optional(),
    is_public: z.boolean().default(false),
  })
  .meta({ ref: 'NewOrganization' })
export type NewOrganization = z.output<typeof NewOrganization>

export const ChangedOrganization = z
  .object({
    name: line(100, 2),
    slug: publicName,
    description: description.nullable(),
    website: website.nullable(),
    is_public: z.boolean(),
    provider_kind: z.enum(providerKinds).nullable(),
    allow_join_requests: z.boolean(),
    auto_approve_requests: z.boolean(),
    auto_approve_domains: z
      .array(domain)
      .max(20)
      .transform((domains) => [...new Set(domains)]),
    rate_limit_requests_per_minute: limit,
    rate_limit_tokens_per_minute: limit,
    rate_limit_images_per_minute: limit.nullable(),
    rate_limit_audio_seconds_per_minute: limit.nullable(),
    max_concurrent_requests: limit,
    monthly_spend_limit: usd(2).nullable(),
    default_member_spending_limit: usd(2).nullable(),
    billing_email: z.email().max(254).trim().toLowerCase(),
    audit_retention_months: auditMonths
      .nullable()
      .describe('Months for which its audit log is kept; null for the default'),
  })
  .partial()
  .meta({ ref: 'ChangedOrganization' })
export type ChangedOrganization = z.output<typeof ChangedOrganization>

export const JoinRequest = z
  .object({ message: z.string().trim().max(500).optional() })
  .meta({ ref: 'JoinRequest' })

export const ChangedMember = z
  .object({
    role: z.enum(roles).optional(),
    status: z.enum(['active', 'suspended']).optional(),
    department: z.string().trim().max(100).nullish(),
    spending_limit: usd(2).nullish(),
  })
  .meta({ ref: 'ChangedMember' })
export type ChangedMember = z.output<typeof ChangedMember>

export const MemberFilters = z.object({
  role: z.enum(roles).optional().describe('Only members with this role'),
  status: z.enum(statuses).optional().describe('Only members with this status'),
})
export type MemberFilters = z.output<typeof MemberFilters>

const brief = {
  id: objectId('org'),
  name: z.string(),
  slug: z.string(),
  role: z.enum(roles).describe("The caller's role"),
  status: z.enum(statuses).describe("The status of the caller's membership"),
  member_count: z.int(),
  is_primary: z.boolean(),
  created_at: z.iso.datetime(),
}

export const OrganizationList = z
  .object({ organizations: z.array(z.object(brief)) })
  .meta({ ref: 'OrganizationList' })

export const Organization = z
  .object({
    ...brief,
    description: z.string().nullable(),
    website: z.string().nullable(),
    is_public: z.boolean(),
    provider_kind: z.enum(providerKinds).nullable(),
    member_limit: z.int(),
    allow_join_requests: z.boolean(),
    auto_approve_requests: z.boolean(),
    auto_approve_domains: z.array(z.string()),
    rate_limit_requests_per_minute: z.int(),
    rate_limit_tokens_per_minute: z.int(),
    rate_limit_images_per_minute: z.int().nullable().describe('Null for the limit of the plan'),
    rate_limit_audio_seconds_per_minute: z
      .int()
      .nullable()
      .describe('Null for the limit of the plan'),
    max_concurrent_requests: z.int(),
    monthly_spend_limit: z.number().nullable(),
    default_member_spending_limit: z.number().nullable(),
    billing_email: z.string(),
    audit_retention_months: z
      .int()
      .nullable()
      .describe('Months for which its audit log is kept; null for the default'),
    credit_balance: z.number().nullable().describe('USD; null unless the caller is owner or admin'),
    updated_at: z.iso.datetime(),
  })
  .meta({ ref: 'Organization' })

export const Member = z
  .object({
    user_id: objectId('user'),
    email: z.string().nullable(),
    display_name: z.string(),
    role: z.enum(roles),
    status: z.enum(statuses),
    department: z.string().nullable(),
    spending_limit: z.number().nullable().describe('USD a month; null for the default'),
    effective_spending_limit: z
      .number()
      .nullable()
      .describe('The limit that applies: the member’s, else the organization’s default'),
    spent_this_month: z
      .number()
      .nullable()
      .describe('USD that count toward the limit in this calendar month in UTC'),
    remaining_this_month: z.number().nullable().describe('The rest of the limit; null without one'),
    joined_at: z.iso.datetime().nullable(),
  })
  .meta({ ref: 'Member' })

export const MemberList = z
  .object({ members: z.array(Member), pagination: Pagination })
  .meta({ ref: 'MemberList' })
