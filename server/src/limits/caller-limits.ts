import { monthInUtc, toRuleKey, type WindowRule } from '../platform/time-window'

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
}

/** The usage limits of an account, a key, an organization or a member per window of time; null for no limit. */
export interface WindowLimit {
  /** The account, key, organization or member that it limits. */
  id: string
  requests: number | null
  /** Nano-dollars. */
  spend: bigint | null
  /** The budget that limits; absent for a limit per calendar month, in UTC. */
  budget?: BudgetTerms
}

/** The limits of a caller: in each list one row per scope, none where a scope has no limit. */
export interface CallerLimits {
  requests: readonly LimitBucket[]
  tokens: readonly LimitBucket[]
  images: readonly LimitBucket[]
  /** Whole seconds of sound; each request is rounded up. */
  audioSeconds: readonly LimitBucket[]
  running: readonly LimitBucket[]
  /** Monthly limits and budgets; empty for nearly all callers. */
  windows: readonly WindowLimit[]
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

/** Combines scopes, and budgets: the limits of all of them apply. */
export function combineLimits(
  scopes: readonly LimitScope[],
  budgets: readonly WindowLimit[] = [],
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
    windows: [...scopes.flatMap(toMonthlyLimits), ...budgets],
  }
}

const toMonthlyLimits = ({
  id,
  monthlyRequests: requests,
  monthlySpend: spend,
}: LimitScope): WindowLimit[] =>
  requests === null && spend === null ? [] : [{ id, requests, spend }]

/** A budget of an account or a key. */
interface LimitedBudget extends Omit<BudgetTerms, 'usageId'> {
  /** The account or the key. */
  subjectId: string
  requests: number | null
  /** Nano-dollars. */
  spend: bigint | null
}

/** Returns the limit that a budget is. */
export function toBudgetLimit({
  subjectId,
  requests,
  spend,
  ...terms
}: LimitedBudget): WindowLimit {
  const key = toRuleKey(terms.rule)
  // Its usage may be that of a monthly limit.
  const usageId = key === toRuleKey(monthInUtc) ? subjectId : `${subjectId} ${key}`
  return { id: subjectId, requests, spend, budget: { ...terms, usageId } }
}
