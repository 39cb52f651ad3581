import { LRUCache } from 'lru-cache'
import { toRateLimitError } from './limits'
import { SlidingWindow } from './sliding-window'
import type { ApiError } from '../errors'
import { limitEntries } from '../platform/cache-limit'

interface Address {
  failures: SlidingWindow
  /** The time from which a key that is not in memory may be looked up again. */
  lookUpAtMs: number
  /** The time of the last operator key from this address. */
  operatorAtMs: number
}

/** The limit of client addresses. */
export interface AddressLimitOptions {
  /** Called each time, as the setting may change. */
  perMinute: () => number
  /** Monotonic milliseconds. */
  now?: () => number
}

const maxAddresses = 10_000
const lookUpEveryMs = 1000
/** The time for which wrong keys from the operator's address do not block the operator. */
const operatorMs = 3_600_000

/**
 * Counts failed authentications by client address. Beyond the limit they get 429 instead of 401, and keys that are
 * not in memory are looked up once a second; keys in memory are not held up.
 */
export class FailedAuthentications {
  readonly #perMinute: () => number
  readonly #now: () => number
  readonly #addresses = new LRUCache<string, Address>(limitEntries(maxAddresses))

  constructor({ perMinute, now = () => performance.now() }: AddressLimitOptions) {
    this.#perMinute = perMinute
    this.#now = now
  }

  /** Counts a failure and returns the error to answer with. */
  judge(client: string, error: ApiError): ApiError {
    const nowMs = this.#now()
    const { failures } = this.#address(client)
    const waitMs = failures.waitMs(1, this.#perMinute(), nowMs)
    if (waitMs > 0) return this.#refusal(waitMs)
    failures.add(1, nowMs)
    return error
  }

  /** Throws `rate_limit_exceeded` where an unknown key may not be looked up now. */
  assertMayLookUp(client: string): void {
    const address = this.#addresses.get(toNetwork(client))
    if (address) this.#assertMayTry(address, this.#now())
  }

  /**
   * Whether a key is the operator's, by `isKey`. Beyond the limit one key a second is compared, so that guesses do
   * not come through and the operator is not locked out. Throws `rate_limit_exceeded`; a wrong key is counted by
   * `judge`.
   */
  isOperator(client: string, isKey: () => boolean): boolean {
    const nowMs = this.#now()
    const knownAddress = this.#addresses.get(toNetwork(client))
    if (knownAddress && nowMs - knownAddress.operatorAtMs > operatorMs)
      this.#assertMayTry(knownAddress, nowMs)
    if (!isKey()) return false
    this.#address(client).operatorAtMs = nowMs
    return true
  }

  #assertMayTry(address: Address, nowMs: number): void {
    const waitMs = address.failures.waitMs(1, this.#perMinute(), nowMs)
    if (waitMs === 0) return
    if (nowMs < address.lookUpAtMs) throw this.#refusal(waitMs)
    address.lookUpAtMs = nowMs + lookUpEveryMs
  }

  #address(client: string): Address {
    const network = toNetwork(client)
    const knownAddress = this.#addresses.get(network)
    if (knownAddress) return knownAddress
    const address = {
      failures: new SlidingWindow(),
      lookUpAtMs: -Infinity,
      operatorAtMs: -Infinity,
    }
    this.#addresses.set(network, address)
    return address
  }

  #refusal(waitMs: number): ApiError {
    const limit = this.#perMinute()
    const reading = { id: 'failures', limit, used: limit, remaining: 0, resetMs: waitMs }
    const message = 'Too many requests with invalid API keys from your address.'
    return toRateLimitError({ kind: 'refused', by: 'window', reading, waitMs }, message)
  }
}

/** Groups IPv6 addresses by network, as a client with one has all of its 64-bit network: 64 bits count as one. */
export function toNetwork(address: string): string {
  const plain = address.toLowerCase().replace(/^::ffff:(?=\d+\.)/, '')
  if (!plain.includes(':')) return plain
  const [front = '', back = ''] = plain.split('::')
  const groups = front.split(':').filter(Boolean)
  const after = plain.includes('::') ? back.split(':').filter(Boolean) : []
  while (groups.length + after.length < 8) groups.push('0')
  return [...groups, ...after].slice(0, 4).join(':')
}
