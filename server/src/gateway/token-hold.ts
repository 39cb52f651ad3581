import type { Reservation } from '../metering/reservation'
import { holdTokens } from '../metering/token-demand'
import type { UnitHold } from '../metering/unit-hold'
import { tokensAt, type TokenBounds } from '../metering/worst-case'
import { chain, rescue, type MaybePromise } from '../platform/maybe-promise'

/** The tokens that an attempt holds of its budgets, and the output limit that they cover. */
export interface HeldTokens {
  budget: UnitHold
  volume: TokenBounds
  outputLimit: number
}

/** Holds the tokens of an attempt. Throws or rejects as `holdTokens` does. */
export const takeTokens = (budget: UnitHold, volume: TokenBounds): MaybePromise<HeldTokens> =>
  chain(holdTokens(budget, volume), (outputLimit) => ({ budget, volume, outputLimit }))

/**
 * Brings tokens and the money that was held after them to the same windows and the same output limit. Where a window has
 * ended between the two, tokens are held again. Throws or rejects as `holdTokens` does, and then holds no money.
 */
export function matchTokens(
  reservation: Reservation,
  heldTokens: HeldTokens,
): MaybePromise<Reservation> {
  const { budget, volume } = heldTokens
  const { heldAtMs } = reservation
  if (heldAtMs === undefined || budget.wasTakenIn(heldAtMs))
    return lowerToTokens(reservation, heldTokens)
  const taking = rescue(
    () => takeTokens(budget, volume),
    (thrown) => {
      reservation.hold?.settle(0n)
      throw thrown
    },
  )
  return chain(taking, (again) => lowerToTokens(reservation, again))
}

/** Lowers the output limit of a reservation to what its tokens cover, or its tokens to what its money covers. */
function lowerToTokens(
  reservation: Reservation,
  { budget, volume, outputLimit }: HeldTokens,
): Reservation {
  if (reservation.outputLimit < outputLimit)
    budget.add(tokensAt(volume, reservation.outputLimit) - tokensAt(volume, outputLimit))
  else reservation.outputLimit = outputLimit
  reservation.tokens = budget
  reservation.heldAtMs ??= budget.heldAtMs
  return reservation
}

/** Finds the output limit that is covered, where that is less than the requested one. */
export function findLoweredLimit(
  reservation: Reservation | undefined,
  tokens: HeldTokens | undefined,
): number | undefined {
  const outputLimit = reservation?.outputLimit ?? tokens?.outputLimit ?? Infinity
  const volume = reservation?.worst.volume ?? tokens?.volume
  return volume && outputLimit < volume.outputLimit ? outputLimit : undefined
}
