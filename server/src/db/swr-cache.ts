import { LRUCache } from 'lru-cache'
import { unavailable } from '../errors'

interface Entry<Value> {
  value: Value
  fetchedAtMs: number
  /** After this the entry is renewed in the background, and still served. */
  renewAtMs: number
  /** When a lookup last failed; for a moment after that nobody waits for another one. */
  failedAtMs: number
}

interface Options<Value> {
  lookUp: (key: string) => Promise<Value>
  /** The most entries kept. */
  capacity: number
  /** Whether a value says that there is nothing: it is trusted for 5 s, and not served in an outage. */
  isNothing?: (value: Value) => boolean
  /** Monotonic milliseconds. */
  now?: (() => number) | undefined
  random?: (() => number) | undefined
}

type Settled<Value> = {
  [Name in keyof Options<Value>]-?: Exclude<Options<Value>[Name], undefined>
}

const renewAfterMs = 30_000
const jitter = 0.2
const nothingMs = 5000
/** A change holds after this long even when no notification arrives. */
const trustedMs = 60_000
/** How long a value is still good while the database does not answer. */
const staleOnErrorMs = 300_000
const askAgainMs = 1000
/** No options: the cache would make an object for none each time. */
const asItIs = {}

/**
 * Rows that requests need, looked up from memory. One lookup a key at a time; one that fails serves
 * what was known, up to 5 minutes, and is `gateway_unavailable` after that. Whoever hears that a row
 * was changed calls `forget`.
 */
export class SwrCache<Value> {
  readonly #options: Settled<Value>
  readonly #entries: LRUCache<string, Entry<Value>>
  readonly #pending = new Map<string, Promise<Entry<Value>>>()
  #distrustedBeforeMs = -Infinity

  constructor({ now, random, isNothing, ...options }: Options<Value>) {
    this.#options = {
      ...options,
      isNothing: isNothing ?? (() => false),
      now: now ?? (() => performance.now()),
      random: random ?? Math.random,
    }
    this.#entries = new LRUCache({ max: options.capacity })
  }

  /** How many entries are kept. */
  get size(): number {
    return this.#entries.size
  }

  /**
   * The value of a key; a promise only when the database is asked. `onUnknown` is called before a key
   * is looked up that nothing is known of; what it throws is thrown.
   */
  of(key: string, onUnknown?: () => void): Value | Promise<Value> {
    const known = this.known(key)
    if (known) return known.value
    const entry = this.#entries.peek(key)
    const isKnown = entry && !this.#options.isNothing(entry.value)
    if (!isKnown && !this.#pending.has(key)) onUnknown?.()
    return this.#fetch(key).then(({ value }) => value)
  }

  /** The value of a key as `of` has it, undefined where the database has to be asked. */
  known(key: string): Readonly<Pick<Entry<Value>, 'value'>> | undefined {
    const entry = this.#entries.get(key, asItIs)
    if (!entry || this.#isSpared(entry)) return entry
    if (!this.#isTrusted(entry)) return undefined
    if (this.#options.now() > entry.renewAtMs) this.#fetch(key).catch(() => undefined)
    return entry
  }

  /** A row was changed or deleted. */
  forget(key: string): void {
    this.#entries.delete(key)
    this.#pending.delete(key)
  }

  /** The same of all keys whose value is of that kind. */
  forgetWhere(matches: (value: Value) => boolean): void {
    for (const [key, { value }] of this.#entries.entries()) if (matches(value)) this.forget(key)
    // A lookup under way may have read the row as it was.
    this.#pending.clear()
  }

  /** Notifications may have been missed: every entry is looked up again before it is used. */
  distrust(): void {
    this.#distrustedBeforeMs = this.#options.now()
    this.#pending.clear()
  }

  #isTrusted({ value, fetchedAtMs }: Entry<Value>): boolean {
    const { isNothing, now } = this.#options
    const lifeMs = isNothing(value) ? nothingMs : trustedMs
    return fetchedAtMs > this.#distrustedBeforeMs && now() - fetchedAtMs < lifeMs
  }

  /** Whether the database just failed for this key, and the value is still good without it. */
  #isSpared({ value, fetchedAtMs, failedAtMs }: Entry<Value>): boolean {
    if (failedAtMs === -Infinity) return false
    const now = this.#options.now()
    const hasJustFailed = failedAtMs > this.#distrustedBeforeMs && now - failedAtMs < askAgainMs
    return hasJustFailed && !this.#options.isNothing(value) && now - fetchedAtMs < staleOnErrorMs
  }

  #fetch(key: string): Promise<Entry<Value>> {
    const running = this.#pending.get(key)
    if (running) return running
    const { lookUp, now, random, isNothing } = this.#options
    const started = now()
    const fetching = lookUp(key)
      .then(
        (value) => {
          const spread = 1 + jitter * (2 * random() - 1)
          const entry = {
            value,
            fetchedAtMs: started,
            renewAtMs: started + renewAfterMs * spread,
            failedAtMs: -Infinity,
          }
          // Invalidated while it ran, it answers those who wait and is not kept.
          if (this.#pending.get(key) === fetching) this.#entries.set(key, entry)
          return entry
        },
        (cause: unknown) => {
          const known = this.#entries.peek(key)
          const isGood = known && !isNothing(known.value)
          if (!isGood || started - known.fetchedAtMs >= staleOnErrorMs) throw unavailable(cause)
          known.failedAtMs = now()
          return known
        },
      )
      .finally(() => {
        if (this.#pending.get(key) === fetching) this.#pending.delete(key)
      })
    this.#pending.set(key, fetching)
    return fetching
  }
}
