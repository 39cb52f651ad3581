import { LRUCache } from 'lru-cache'
import { toNetwork, type AddressLimitOptions } from './failed-authentications'
import { toRateLimitError } from './limits'
import { SlidingWindow } from './sliding-window'
import type { RateLimitQuota } from '../errors'
import { limitEntries } from '../platform/cache-limit'

const maxAddresses = 10_000

/**
 * Counts requests without a key by client address, on this node. Keeps the addresses that sent requests last: a
 * client with more addresses than that is not limited by this.
 */
export class AddressRate {
  readonly #perMinute: () => number
  readonly #now: () => number
  readonly #windows = new LRUCache<string, SlidingWindow>(limitEntries(maxAddresses))

  constructor({ perMinute, now = () => performance.now() }: AddressLimitOptions) {
    this.#perMinute = perMinute
    this.#now = now
  }

  /** Counts a request and returns the client's quota. Throws `rate_limit_exceeded`. */
  count(client: string): RateLimitQuota {
    const [nowMs, limit] = [this.#now(), this.#perMinute()]
    const network = toNetwork(client)
    const window = this.#windows.get(network) ?? new SlidingWindow()
    this.#windows.set(network, window)
    const waitMs = window.waitMs(1, limit, nowMs)
    if (waitMs > 0) {
      const used = window.used(nowMs)
      const reading = { id: network, limit, used, remaining: 0, resetMs: waitMs }
      throw toRateLimitError({ kind: 'refused', by: 'window', reading, waitMs })
    }
    window.add(1, nowMs)
    const remaining = limit - window.used(nowMs)
    return { limit, remaining, resetAtMs: Date.now() + window.resetMs(nowMs) }
  }
}
