/** A counter's id, and its limit. */
export interface LimitBucket {
  id: string
  limit: number
}

/** The usage limits of an account or a key per calendar month, in UTC; null for no limit. */
export interface MonthlyLimit {
  id: string
  requests: number | null
  /** Nano-dollars. */
  spend: bigint | null
}

/** The limits of a caller: in each list one row per scope, none where a scope has no limit. */
export interface CallerLimits {
  requests: readonly LimitBucket[]
  tokens: readonly LimitBucket[]
  running: readonly LimitBucket[]
  /** Empty for nearly all callers. */
  monthly: readonly MonthlyLimit[]
}

/** A scope of limits, such as all keys of an account; null for no limit. */
export interface LimitScope {
  id: string
  requestsPerMinute: number | null
  tokensPerMinute: number | null
  maxConcurrentRequests: number | null
  monthlyRequests: number | null
  /** Nano-dollars. */
  monthlySpend: bigint | null
}

/** Combines scopes: the limits of all of them apply. */
export function combineLimits(scopes: readonly LimitScope[]): CallerLimits {
  const buckets = (kind: string, limitOf: (scope: LimitScope) => number | null) =>
    scopes.flatMap((scope) => {
      const limit = limitOf(scope)
      return limit === null ? [] : [{ id: `${kind}:${scope.id}`, limit }]
    })
  return {
    requests: buckets('requests', (scope) => scope.requestsPerMinute),
    tokens: buckets('tokens', (scope) => scope.tokensPerMinute),
    running: buckets('running', (scope) => scope.maxConcurrentRequests),
    monthly: scopes.flatMap(({ id, monthlyRequests: requests, monthlySpend: spend }) =>
      requests === null && spend === null ? [] : [{ id, requests, spend }],
    ),
  }
}
