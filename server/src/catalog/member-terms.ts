import type { Offer } from './offer'
import type { OrganizationBudget } from './organization-budgets'
import type { MembershipRow } from '../platform/db/schema'

/** The membership of an account in an organization. */
export interface Membership {
  organizationId: string
  role: MembershipRow['role']
  status: MembershipRow['status']
  isPrimary: boolean
  /** Nano-dollars a month; null for the organization's default. */
  spendingLimit: bigint | null
  /** Absent or null for none. */
  department?: string | null
}

/** The limits on the use of an organization by all its members together; null for no limit. */
export interface SharedLimits {
  requestsPerMinute: number
  tokensPerMinute: number
  imagesPerMinute: number | null
  audioSecondsPerMinute: number | null
  maxConcurrentRequests: number
  monthlyRequests: number | null
  /** Nano-dollars. */
  monthlySpend: bigint | null
  /** The monthly limit of a member without an own one. */
  memberSpend: bigint | null
  /** Those of all members; empty for nearly all organizations. */
  budgets: readonly OrganizationBudget[]
}

/** The offer and the limits that an organization has for its members. */
export interface Shared {
  offer: Offer
  limits: SharedLimits
}

/** The limits of one member's use of an organization; `memberSpend` is this member's. */
export interface MemberTerms extends SharedLimits {
  organizationId: string
  /** The member's department; null for none. */
  department: string | null
}
