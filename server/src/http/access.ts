import type { LimitedRole } from '../platform/operator-role'
import type { Permission } from '../auth/principal'

/**
 * The owners of the objects that a route reads or changes: the calling account, that and its organizations by
 * membership and role, all, or none.
 */
export type Tenant = 'account' | 'organization' | 'all' | 'none'

interface CommonAccess {
  tenant: Tenant
  /** The body limit; model endpoints have theirs in `gateway/request.ts`. */
  bodyBytes?: number
}

/** The access to a route whose caller is an account. */
export interface AccountAccess extends CommonAccess {
  class: 'api' | 'models'
  permission: Permission
}

/** The access to a route of operators. */
export interface OperatorAccess extends CommonAccess {
  class: 'operator'
  permission?: undefined
  /** The roles that may call it beside full operators. */
  roles: readonly LimitedRole[]
}

/** The access to a route without authentication. */
interface OpenAccess extends CommonAccess {
  class: 'public' | 'open'
  permission?: undefined
}

/** The access to a route, and its body limit. */
export type Access = AccountAccess | OperatorAccess | OpenAccess

/**
 * The access class of a route: its permitted callers, and the counter of its requests: the caller's own limits, the
 * rate limit of `/api` for each account, that of `/api/public` for each address; operator and open routes are not
 * counted.
 */
export type AccessClass = Access['class']

const megabyte = 1024 * 1024

/** Body limits. Source: contract 1.1. */
const bodyBytes = { usual: 64 * 1024, larger: megabyte, bulk: 8 * megabyte }

/** A body limit by its name. */
export type BodyLimit = keyof typeof bodyBytes

/** `/api`: a key or a session with a permission, with the rate limit of `/api`. */
export const account = (
  permission: Permission,
  { tenant = 'account', body = 'usual' }: { tenant?: Tenant; body?: BodyLimit } = {},
): AccountAccess => ({ class: 'api', tenant, permission, bodyBytes: bodyBytes[body] })

/** `/v1`: a service key with a permission; counts the request in the limits of its caller. */
export const modelKey = (
  permission: Permission,
  { body }: { body?: BodyLimit } = {},
): AccountAccess => ({
  class: 'models',
  tenant: 'account',
  permission,
  ...(body && { bodyBytes: bodyBytes[body] }),
})

/**
 * `/api/admin`: the operator key or the session of a full operator, and of accounts with one of `roles`; for callers
 * without a role the path does not exist.
 */
export const operator = ({
  roles = [],
  body = 'usual',
}: { roles?: readonly LimitedRole[]; body?: BodyLimit } = {}): OperatorAccess => ({
  class: 'operator',
  tenant: 'all',
  bodyBytes: bodyBytes[body],
  roles,
})

/** `/api/public`: no authentication, with a rate limit for each client address. */
export const unauthenticated: OpenAccess = { class: 'public', tenant: 'none', bodyBytes: 0 }

/** No authentication and no rate limit. */
export const open: OpenAccess = { class: 'open', tenant: 'none', bodyBytes: 0 }
