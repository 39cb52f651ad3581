import { ApiError } from '../errors'

export const permissions = ['read', 'write', 'admin'] as const
export type Permission = (typeof permissions)[number]

/** A counter's id, and its limit. */
export interface LimitBucket {
  id: string
  limit: number
}

/** The usage limits of an account or a key per calendar month, in UTC; null for no limit. */
export interface MonthlyCap {
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
  monthly: readonly MonthlyCap[]
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

/** An authenticated caller. */
export interface Principal {
  keyId: string
  /** The first characters of the key, as the dashboard shows them. */
  keyPrefix: string
  userId: string
  /** The paying account, unless an organization pays. */
  accountId: string
  permissions: readonly Permission[]
  /** Milliseconds since the epoch, null for never. */
  expiresAtMs: number | null
  /**
   * The same by this process's monotonic clock, derived from the database's clock: each request is checked against
   * it. A change of the wall clock neither revives nor expires a key.
   */
  endsAtMs: number | null
  /** The limits of the account and the key, from plan, overrides and the key itself. */
  limits: CallerLimits
  /** Whether the account has enabled bodies in its request logs. */
  logBodies: boolean
}

/** Whether the key has limits besides those of its account. */
export const hasOwnLimits = ({ keyId, limits }: Pick<Principal, 'keyId' | 'limits'>): boolean =>
  [limits.requests, limits.tokens, limits.running]
    .flat()
    .some(({ id }) => id.endsWith(`:${keyId}`)) || limits.monthly.some(({ id }) => id === keyId)

/** `admin` implies both others; `write` does not imply `read`. */
export const may = ({ permissions: held }: Principal, required: Permission): boolean =>
  held.includes(required) || held.includes('admin')

/** Throws `insufficient_permissions`. */
export function permit(principal: Principal, required: Permission): void {
  if (may(principal, required)) return
  const held = principal.permissions
  throw new ApiError('insufficient_permissions', {
    message: `This needs a key with the permission "${required}".`,
    details: { required: [required], current: [...held] },
  })
}
