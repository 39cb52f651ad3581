import { sql } from 'kysely'
import type { BilledAccount } from './billed-account'
import type { BreakdownSource } from './breakdown-rows'
import type { Dimension, UsageBreakdownFilter } from './breakdown-schema'
import { sourceOf } from './sum-source'
import { withTags } from './tag-source'
import { invalidRequest } from '../../../errors'

type Filter = Pick<
  UsageBreakdownFilter,
  'organization_id' | 'group_by' | 'split_by' | 'key_id' | 'member_id' | 'tag'
>

/** The groupings that only an organization has, and those that only an account has. */
const ofOrganizations: readonly (Dimension | undefined)[] = ['member', 'department']
const ofAccounts: readonly (Dimension | undefined)[] = ['key', 'tag']

const filtersOfOrganizations = ['member_id'] as const
const filtersOfAccounts = ['key_id', 'tag'] as const

/**
 * Selects the sums of an account or an organization. Throws `invalid_request` for groupings and filters that these do not
 * have: an organization does not see its members' keys and tags.
 */
export function breakdownSource(account: BilledAccount, filter: Filter): BreakdownSource {
  const isAccount = account.organizationId === null
  const unavailable = isAccount ? ofOrganizations : ofAccounts
  const rule = isAccount ? 'requires organization_id' : 'cannot be combined with organization_id'
  for (const field of ['group_by', 'split_by'] as const) {
    if (!unavailable.includes(filter[field])) continue
    throw invalidRequest(field, 'conflict', `${field}: ${filter[field]} ${rule}.`)
  }
  if (filter.split_by === filter.group_by) {
    throw invalidRequest('split_by', 'conflict', 'split_by: must differ from group_by.')
  }
  for (const field of isAccount ? filtersOfOrganizations : filtersOfAccounts) {
    if (filter[field] !== undefined) throw invalidRequest(field, 'conflict', `${field} ${rule}.`)
  }
  const [column, id] = isAccount ? [sql`key_id`, filter.key_id] : [sql`user_id`, filter.member_id]
  const where = id === undefined ? undefined : sql`${column} = ${id}`
  const source = { ...sourceOf(account), where }
  return isAccount ? withTags(source, filter) : source
}
