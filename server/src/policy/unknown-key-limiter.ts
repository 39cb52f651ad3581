import { toNetwork } from './failed-authentications'
import { toRateLimitError } from './limits'

/** What a node that has just started, behind a proxy that is not believed, does not come to. */
const mostOfAddress = 1024
const waitMs = 1000

/**
 * Keys that are not known here, by the address they came from, for as long as they are looked up. How
 * many may fail is known only once they did (`FailedAuthentications`): so many at a time are let in before.
 */
export class UnknownKeyLimiter {
  readonly #running = new Map<string, number>()

  /** To be disposed of once it is known who asks. Throws `rate_limit_exceeded`. */
  enter(client: string): Disposable {
    const network = toNetwork(client)
    const running = this.#running.get(network) ?? 0
    if (running >= mostOfAddress) {
      const reading = { id: network, limit: mostOfAddress, used: running, left: 0, resetMs: waitMs }
      const words = 'Too many keys that are not known yet came from your address at once.'
      throw toRateLimitError({ kind: 'refused', by: 'running', reading, waitMs }, words)
    }
    this.#running.set(network, running + 1)
    return { [Symbol.dispose]: () => this.#leave(network) }
  }

  #leave(network: string): void {
    const left = (this.#running.get(network) ?? 1) - 1
    if (left > 0) this.#running.set(network, left)
    else this.#running.delete(network)
  }

  /** Addresses that have requests running. */
  get size(): number {
    return this.#running.size
  }
}
