import { ApiError, invalidRequest } from '../errors'
import type { CallerLimits } from '../limits/caller-limits'
import {
  findEndpointRefusal,
  refusalText,
  type AccessLists,
  type ModelEndpoint,
} from '../platform/access-lists'
import { type Address, parseAddress } from '../platform/networks'

export const permissions = ['read', 'write', 'admin'] as const
export type Permission = (typeof permissions)[number]

export const isPermission = (name: string): name is Permission =>
  permissions.some((permission) => permission === name)

/** An authenticated caller. */
export interface Principal {
  keyId: string
  /** The first characters of the key, as the dashboard shows them. */
  keyPrefix: string
  userId: string
  /** The paying account, unless an organization pays. */
  accountId: string
  permissions: readonly Permission[]
  /** The end of the key, or of its replaced secret, in milliseconds since the epoch; null for never. */
  expiresAtMs: number | null
  /**
   * The same by this process's monotonic clock, derived from the database's clock: each request is checked against
   * it. A change of the wall clock neither revives nor expires a key.
   */
  endsAtMs: number | null
  /** The end of the overlap by the same clock, for a secret that a rotation has replaced; else null or absent. */
  secretEndsAtMs?: number | null
  /** The end of the key's pause by the same clock, infinite until the key is enabled; null for an enabled key. */
  disabledUntilMs: number | null
  /** The lists of what the key may call; null where it has none. */
  accessLists: AccessLists | null
  /** Tells whether requests with the key may come from an address; absent or null for all. */
  acceptsAddress?: ((address: Address) => boolean) | null
  /** The limits of the account and the key, from plan, overrides and the key itself. */
  limits: CallerLimits
  /** Whether the account has enabled bodies in its request logs. */
  logBodies: boolean
  /** The tags of all requests with the key; absent or null for none. */
  tags?: readonly string[] | null
  /** Whether the account leaves out the provider of a model; null where the operator's setting applies. */
  bareModelNames?: boolean | null | undefined
}

/** Whether the key has limits besides those of its account. */
const hasOwnLimits = ({
  keyId,
  limits,
  accessLists,
  acceptsAddress,
}: Pick<Principal, 'keyId' | 'limits' | 'accessLists' | 'acceptsAddress'>): boolean =>
  accessLists !== null ||
  Boolean(acceptsAddress) ||
  [limits.requests, limits.tokens, limits.images, limits.audioSeconds, limits.running]
    .flat()
    .some(({ id }) => id.endsWith(`:${keyId}`)) ||
  [limits.windows, limits.filtered].flat().some(({ id }) => id === keyId)

/**
 * Rejects a key with a spending or rate limit of its own, which could otherwise raise or multiply it. `changes` is what
 * it cannot do.
 */
export function rejectLimitedKey(asker: Principal, changes: string): void {
  if (!hasOwnLimits(asker)) return
  const message = `This API key has its own limits, so it cannot ${changes}. Use a key without limits, or sign in.`
  throw invalidRequest(null, 'not_allowed', message)
}

/** `admin` implies both others; `write` does not imply `read`. */
export const may = (
  { permissions: grantedPermissions }: Principal,
  permission: Permission,
): boolean => grantedPermissions.includes(permission) || grantedPermissions.includes('admin')

/** Throws `insufficient_permissions`. */
export function permit(principal: Principal, permission: Permission): void {
  if (may(principal, permission)) return
  const grantedPermissions = principal.permissions
  throw new ApiError('insufficient_permissions', {
    message: `This request requires an API key with the permission "${permission}".`,
    details: { required: [permission], current: [...grantedPermissions] },
  })
}

/** A request, as far as its address matters. */
export interface AddressSource {
  /** Returns the address that a request came from. */
  address: () => string
}

/** Whether requests of a caller may come from an address; an address that is unknown is accepted from no key with a list. */
export function isAcceptedFrom({ acceptsAddress }: Principal, caller: AddressSource): boolean {
  if (!acceptsAddress) return true
  const parsedAddress = parseAddress(caller.address())
  return parsedAddress !== undefined && acceptsAddress(parsedAddress)
}

/** Throws `insufficient_permissions` for an address that is not among those of the key. */
export function permitAddress(principal: Principal, caller: AddressSource): void {
  if (isAcceptedFrom(principal, caller)) return
  const address = caller.address()
  throw new ApiError('insufficient_permissions', {
    message: `This API key is not accepted from the address ${address}: see its allowed_addresses.`,
    details: { required: ['allowed_address'], current: [address] },
  })
}

/** Throws `insufficient_permissions` for an endpoint that a list of the key refuses. */
export function permitEndpoint({ accessLists }: Principal, endpoint: ModelEndpoint): void {
  const refusingList = accessLists && findEndpointRefusal(endpoint, accessLists)
  if (!refusingList) return
  throw new ApiError('insufficient_permissions', {
    message: `This API key may not call the endpoint "${endpoint}": ${refusalText(refusingList)}.`,
    details: { required: ['allowed_endpoint'], current: [endpoint] },
  })
}
