import { ApiError } from '../errors'

export const permissions = ['read', 'write', 'admin'] as const
export type Permission = (typeof permissions)[number]

/** What is counted under one id, and the most it may reach. */
export interface Bucket {
  id: string
  limit: number
}

/** The limits of a caller: in each list one row a scope, none where a scope has no limit. */
export interface Limits {
  requests: readonly Bucket[]
  tokens: readonly Bucket[]
  running: readonly Bucket[]
}

/** Who shares limits, such as all keys of an account; null for no limit. */
export interface Scope {
  id: string
  requestsPerMinute: number | null
  tokensPerMinute: number | null
  maxConcurrentRequests: number | null
}

/** All limits of all scopes hold. */
export function limitsOf(scopes: readonly Scope[]): Limits {
  const buckets = (kind: string, limitOf: (scope: Scope) => number | null) =>
    scopes.flatMap((scope) => {
      const limit = limitOf(scope)
      return limit === null ? [] : [{ id: `${kind}:${scope.id}`, limit }]
    })
  return {
    requests: buckets('requests', (scope) => scope.requestsPerMinute),
    tokens: buckets('tokens', (scope) => scope.tokensPerMinute),
    running: buckets('running', (scope) => scope.maxConcurrentRequests),
  }
}

/** Who calls, and what for. */
export interface Principal {
  keyId: string
  userId: string
  /** Who pays, unless an organization does. */
  accountId: string
  permissions: readonly Permission[]
  /** Milliseconds since the epoch, null for never; judged on each request. */
  expiresAtMs: number | null
  /** What the account and the key may use, by plan, overrides and the key's own limits. */
  limits: Limits & {
    /** Of the key: nano-dollars per calendar month. */
    monthlySpend: bigint | null
  }
}

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
