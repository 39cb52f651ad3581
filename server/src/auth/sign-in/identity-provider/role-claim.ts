import type { RoleClaim } from '../../../platform/config/identity-provider'
import { operatorRoles, type OperatorRole } from '../../../platform/operator-role'

/** Returns the role that the values of a claim give, the first of `operatorRoles` where they give several; null for none. */
export function toClaimedRole(claim: unknown, { values }: RoleClaim): OperatorRole | null {
  const claims = [claim].flat()
  return operatorRoles.find((role) => values[role].some((value) => claims.includes(value))) ?? null
}

/**
 * Returns the role of an account after a sign-in whose claim gives `claimedRole`. Where only values of full operators are set,
 * an account that is none keeps the lesser role that an operator has given it.
 */
export function toRoleAfterSignIn(
  current: OperatorRole | null,
  claimedRole: OperatorRole | null,
  { values }: RoleClaim,
): OperatorRole | null {
  const decidesAll = operatorRoles.some((role) => role !== 'operator' && values[role].length > 0)
  const isLesser = current !== null && current !== 'operator'
  return claimedRole === null && isLesser && !decidesAll ? current : claimedRole
}
