import { ApiError } from '../errors'

export const permissions = ['read', 'write', 'admin'] as const
export type Permission = (typeof permissions)[number]

/** Who calls, and what for. */
export interface Principal {
  keyId: string
  userId: string
  /** Who pays, unless an organization does. */
  accountId: string
  permissions: readonly Permission[]
  /** Milliseconds since the epoch, null for never; judged on each request. */
  expiresAtMs: number | null
  /** What narrows the plan's limits for this key; null where the plan holds. */
  limits: {
    requestsPerMinute: number | null
    tokensPerMinute: number | null
    maxConcurrentRequests: number | null
    /** Nano-dollars per calendar month. */
    monthlySpend: bigint | null
  }
}

/** Throws `insufficient_permissions`. `admin` implies both others; `write` does not imply `read`. */
export function permit(principal: Principal, required: Permission): void {
  const held = principal.permissions
  if (held.includes(required) || held.includes('admin')) return
  throw new ApiError('insufficient_permissions', {
    message: `This needs a key with the permission "${required}".`,
    details: { required: [required], current: [...held] },
  })
}
