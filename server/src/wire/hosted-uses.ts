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

/** A bound that a request names; the usual one where it is no positive whole number. */
export const boundOf = (maxUses: unknown): number =>
  Number.isSafeInteger(maxUses) && Number(maxUses) > 0 ? Number(maxUses) : defaultUses
