/** What the tools that a provider runs for a request can come to. */
export interface HostedUses {
  /** Web searches, of which each has a price. */
  searches: number
  /** How often the model reads its prompt again, and what a tool found. */
  rounds: number
  /** The longest prompt that is read then, where that is less than the model's context. */
  maxContext?: number
}

/** How often tools are used where a request that is paid by our price names no bound. */
export const usualUses = 5

/** A bound that a request names; the usual one where it is no positive whole number. */
export const boundOf = (asked: unknown): number =>
  Number.isSafeInteger(asked) && Number(asked) > 0 ? Number(asked) : usualUses
