import type { Counters, LimitRefusal } from './counters'
import { toRateLimitError } from './limits'
import { windowMs } from './sliding-window'

/** A connection, and its limits per minute; null for no limit. */
interface Limited {
  id: string
  rpm: number | null
  tpm: number | null
}

/** Counts requests to connections that have rates of their own. Source: contract 3.1. */
export class ConnectionRates {
  readonly #counters: Counters

  constructor(counters: Counters) {
    this.#counters = counters
  }

  /**
   * Counts a request, and reserves tokens for it. Rejects with `rate_limit_exceeded`; counts nothing then. Resolves
   * with a function to call once it has ended, with the tokens that it used.
   */
  async admit({ id, rpm, tpm }: Limited, tokens: number): Promise<(used: number) => void> {
    const requests =
      rpm === null ? undefined : await this.#take(`connection-requests:${id}`, rpm, 1)
    if (requests?.kind === 'refused') throw full(requests, 'requests')
    if (tpm === null) return () => undefined
    const tokenTake = await this.#take(`connection-tokens:${id}`, tpm, tokens)
    if (tokenTake.kind === 'granted') return (used) => tokenTake.end(used - tokens)
    requests?.end(-1)
    throw full(tokenTake, 'tokens')
  }

  async #take(id: string, limit: number, weight: number) {
    return this.#counters.take({ windows: [{ id, limit }], weight, running: [] })
  }
}

function full(refusal: LimitRefusal, what: 'requests' | 'tokens') {
  // Caps the wait of a request that never fits at the window.
  const waitMs = Math.min(refusal.waitMs, windowMs)
  const { limit } = refusal.reading
  return toRateLimitError(
    { ...refusal, waitMs },
    `The connection for this model accepts ${limit} ${what} per minute. Retry after the time in Retry-After.`,
  )
}
