import type { AmountOverride } from '../platform/amount-override'
import { monthInUtc, toRuleKey, type WindowRule } from '../platform/time-window'
import type { OrganizationPayments, UsageFilter } from '../platform/usage-filter'

/** A counter's id, and its limit. */
export interface LimitBucket {
  id: string
  limit: number
}

/** A budget by its name and its windows. */
interface BudgetTerms {
  id: string
  name: string
  rule: WindowRule
  /** The same for all budgets that count the same usage. */
  usageId: string
  /** The requests that it counts; absent for all. */
  filter?: UsageFilter | undefined
  /** Set for a budget of an organization. */
  payments?: OrganizationPayments | undefined
  /** The amount that replaces the budget's for a time; absent for none. */
  override?: AmountOverride | undefined
}

/** The usage limits of an account, a key, an organization or a member per window of time; null for no limit. */
export interface WindowLimit {
  /** The account, key, organization or member that it limits. */
  id: string
  requests: number | null
  /** Nano-dollars. */
  spend: bigint | null
  /** Tokens of prompts and answers; absent for no limit. */
  tokens?: bigint | null
  /** The budget that limits; absent for a limit per calendar month, in UTC. */
  budget?: BudgetTerms
  /** When a greater amount comes into force, of a limit as it is in force at a moment. */
  risesAtMs?: number
}

/** The limits of a caller: in each list one row per scope, none where a scope has no limit. */
export interface CallerLimits {
  requests: readonly LimitBucket[]
  tokens: readonly LimitBucket[]
  images: readonly LimitBucket[]
  /** Whole seconds of sound; each request is rounded up. */
  audioSeconds: readonly LimitBucket[]
  running: readonly LimitBucket[]
  /** Monthly limits and budgets that count all requests; empty for nearly all callers. */
  windows: readonly WindowLimit[]
  /** Budgets that count the requests of their filter; empty for nearly all callers. */
  filtered: readonly WindowLimit[]
  /** The tags that budgets count, soft ones too; empty for nearly all callers. */
  budgetTags: readonly string[]
}

/** A scope of limits, such as all keys of an account; null for no limit. */
export interface LimitScope {
  id: string
  requestsPerMinute: number | null
  tokensPerMinute: number | null
  imagesPerMinute: number | null
  audioSecondsPerMinute: number | null
  maxConcurrentRequests: number | null
  monthlyRequests: number | null
  /** Nano-dollars. */
  monthlySpend: bigint | null
}

/** The budgets of a caller. */
export interface CallerBudgets {
  /** Of hard budgets. */
  limits: readonly WindowLimit[]
  tags: readonly string[]
}

const noBudgets: CallerBudgets = { limits: [], tags: [] }

/** Combines scopes, and budgets: the limits of all of them apply. */
export function combineLimits(
  scopes: readonly LimitScope[],
  budgets: CallerBudgets = noBudgets,
): CallerLimits {
  const buckets = (kind: string, limitOf: (scope: LimitScope) => number | null) =>
    scopes.flatMap((scope) => {
      const limit = limitOf(scope)
      return limit === null ? [] : [{ id: `${kind}:${scope.id}`, limit }]
    })
  return {
    requests: buckets('requests', (scope) => scope.requestsPerMinute),
    tokens: buckets('tokens', (scope) => scope.tokensPerMinute),
    images: buckets('images', (scope) => scope.imagesPerMinute),
    audioSeconds: buckets('audio-seconds', (scope) => scope.audioSecondsPerMinute),
    running: buckets('running', (scope) => scope.maxConcurrentRequests),
    windows: [
      ...scopes.flatMap(toMonthlyLimits),
      ...budgets.limits.filter(({ budget }) => !budget?.filter),
    ],
    filtered: budgets.limits.filter(({ budget }) => budget?.filter),
    budgetTags: budgets.tags,
  }
}

const toMonthlyLimits = ({
  id,
  monthlyRequests: requests,
  monthlySpend: spend,
}: LimitScope): WindowLimit[] =>
  requests === null && spend === null ? [] : [{ id, requests, spend }]

/** A budget of an account, a key or an organization. */
interface LimitedBudget extends Omit<BudgetTerms, 'usageId'> {
  /** The account or the key, or the payments of an organization. */
  subjectId: string
  requests: number | null
  /** Nano-dollars. */
  spend: bigint | null
  tokens?: bigint | null
}

/** Returns the limit that a budget is. */
export function toBudgetLimit({
  subjectId,
  requests,
  spend,
  tokens = null,
  ...terms
}: LimitedBudget): WindowLimit {
  const usageId = toUsageId(subjectId, terms)
  return { id: subjectId, requests, spend, tokens, budget: { ...terms, usageId } }
}

/** Usage of a filter is of one budget, whose filter never changes; that of a month may be of a monthly limit as well. */
function toUsageId(
  subjectId: string,
  { id, rule, filter }: Pick<LimitedBudget, 'id' | 'rule' | 'filter'>,
): string {
  const key = toRuleKey(rule)
  if (filter) return `${id} ${key}`
  return key === toRuleKey(monthInUtc) ? subjectId : `${subjectId} ${key}`
}
