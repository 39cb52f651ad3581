import type { Budget, SpendingDemand } from './budget'
import { TokenRefusal } from './token-refusal'
import { floorTokens, tokensAt, type TokenBounds } from './worst-case'
import { chain, type MaybePromise } from '../platform/maybe-promise'

/** Returns the tokens that a request may use at most, and the least with which it runs: as its hold of money has them. */
const toTokenDemand = (volume: TokenBounds): SpendingDemand => ({
  full: tokensAt(volume, volume.outputLimit),
  floor: floorTokens(volume),
})

/**
 * Holds the tokens of an attempt, in place of those of an earlier one. Returns the output limit that its budgets cover.
 * Throws or rejects with `TokenRefusal`, and with `gateway_unavailable` as a budget does.
 */
export function holdTokens(budget: Budget, volume: TokenBounds): MaybePromise<number> {
  const demand = toTokenDemand(volume)
  return chain(budget.take(demand), (heldAmount) => {
    if (typeof heldAmount !== 'bigint') throw new TokenRefusal(heldAmount, volume)
    const { outputLimit, choices } = volume
    if (heldAmount >= demand.full || choices === 0) return outputLimit
    return Number((heldAmount - tokensAt(volume, 0)) / BigInt(choices))
  })
}
