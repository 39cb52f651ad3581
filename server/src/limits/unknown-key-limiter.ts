import { toNetwork } from './failed-authentications'
import { toRateLimitError } from './limits'

/** Above the look-ups that a node that has just started runs at once behind an untrusted proxy. */
const maxPerAddress = 1024
const waitMs = 1000

/**
 * Limits the unknown keys that are looked up at the same time, by client address. The number of failures is known
 * only afterwards (`FailedAuthentications`), so this bounds the look-ups before.
 */
export class UnknownKeyLimiter {
  readonly #running = new Map<string, number>()

  /** Returns a place, to be disposed of once the caller is known. Throws `rate_limit_exceeded`. */
  admit(client: string): Disposable {
    const network = toNetwork(client)
    const running = this.#running.get(network) ?? 0
    if (running >= maxPerAddress) {
      const reading = {
        id: network,
        limit: maxPerAddress,
        used: running,
        remaining: 0,
        resetMs: waitMs,
      }
      const message = 'Too many concurrent requests with unknown API keys from your address.'
      throw toRateLimitError({ kind: 'refused', by: 'running', reading, waitMs }, message)
    }
    this.#running.set(network, running + 1)
    return { [Symbol.dispose]: () => this.#leave(network) }
  }

  #leave(network: string): void {
    const remaining = (this.#running.get(network) ?? 1) - 1
    if (remaining > 0) this.#running.set(network, remaining)
    else this.#running.delete(network)
  }

  /** Addresses that have requests running. */
  get size(): number {
    return this.#running.size
  }
}
