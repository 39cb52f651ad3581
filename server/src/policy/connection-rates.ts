import type { Counters, Refused } from './counters'
import { tooManyRequests } from './limits'
import { windowMs } from './sliding-window'

/** A connection, and what it takes a minute; null for no limit. */
interface Limited {
  id: string
  rpm: number | null
  tpm: number | null
}

/** Counts what goes to connections that have rates of their own. Source: contract 3.1. */
export class ConnectionRates {
  readonly #counters: Counters

  constructor(counters: Counters) {
    this.#counters = counters
  }

  /**
   * Counts a request, and reserves tokens for it. Rejects with `rate_limit_exceeded`; counts nothing
   * then. Resolves with what to call once it has ended, with the tokens that it used.
   */
  async enter({ id, rpm, tpm }: Limited, tokens: number): Promise<(used: number) => void> {
    const requests =
      rpm === null ? undefined : await this.#take(`connection-requests:${id}`, rpm, 1)
    if (requests?.kind === 'refused') throw full(requests, 'requests')
    if (tpm === null) return () => undefined
    const reserved = await this.#take(`connection-tokens:${id}`, tpm, tokens)
    if (reserved.kind === 'granted') return (used) => reserved.end(used - tokens)
    requests?.end(-1)
    throw full(reserved, 'tokens')
  }

  async #take(id: string, limit: number, weight: number) {
    return this.#counters.take({ windows: [{ id, limit }], weight, running: [] })
  }
}

function full(refused: Refused, what: 'requests' | 'tokens') {
  // One that never fits is told to wait as long as any.
  const waitMs = Math.min(refused.waitMs, windowMs)
  const { limit } = refused.reading
  return tooManyRequests(
    { ...refused, waitMs },
    `The connection that would serve this takes ${limit} ${what} a minute. Wait as Retry-After says.`,
  )
}
