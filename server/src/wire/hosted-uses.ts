import { invalidRequest } from '../errors'

/** The maximum use of the tools that a provider runs for a request. */
export interface HostedUses {
  /** Web searches, of which each has a price. */
  searches: number
  /** The number of times that the model reads its prompt and the tools' results again. */
  rounds: number
  /** The longest prompt that is read then, where that is less than the model's context. */
  maxContext?: number
}

/** The uses of tools assumed where a request that is paid by our price names no bound. */
export const defaultUses = 5

/** No agent uses more in one request, and a hold of more is beyond any balance. */
export const maxUses = 1000

/** Throws `invalid_request` for a bound that a request names in `field` and that is above `maxUses`. */
export function checkUses(bound: unknown, field: string): void {
  if (typeof bound !== 'number' || bound <= maxUses) return
  throw invalidRequest(field, 'out_of_range', `${field}: must be at most ${maxUses}.`)
}

/** A bound that a request names; the usual one where it is no positive whole number. */
export const boundOf = (bound: unknown): number =>
  Number.isSafeInteger(bound) && Number(bound) > 0 ? Number(bound) : defaultUses
