import { LRUCache } from 'lru-cache'
import type { MaybePromise } from './maybe-promise'
import { unavailable } from '../errors'
import { limitEntries } from './cache-limit'

interface Entry<Value> {
  value: Value
  fetchedAtMs: number
  /** After this time the entry is renewed in the background, and still served. */
  renewAtMs: number
  /** When a lookup last failed; for a moment after that, callers do not wait for another one. */
  failedAtMs: number
}

interface Options<Value> {
  lookUp: (key: string) => Promise<Value>
  /** The maximum number of entries. */
  capacity: number
  /** Whether a value means "not found": it is trusted for 5 s, and not served in an outage. */
  isMissing?: (value: Value) => boolean
  /** Monotonic milliseconds. */
  now?: (() => number) | undefined
  random?: (() => number) | undefined
}

type Settled<Value> = {
  [Name in keyof Options<Value>]-?: Exclude<Options<Value>[Name], undefined>
}

const renewAfterMs = 30_000
const jitter = 0.2
const missingTrustMs = 5000
/** The longest that a change goes unnoticed if its notification is lost. */
const trustMs = 60_000
/** The time for which a value stays usable while the database does not answer. */
const staleOnErrorMs = 300_000
const retryAfterMs = 1000
/** A shared empty object: without options the cache would create one for each call. */
const noOptions = {}

/**
 * Caches rows that requests need. Each key has at most one lookup at a time; a failed lookup serves the last value for
 * up to 5 minutes, and throws `gateway_unavailable` after that. Call `invalidate` when a row has changed.
 */
export class SwrCache<Value> {
  readonly #options: Settled<Value>
  readonly #entries: LRUCache<string, Entry<Value>>
  readonly #pending = new Map<string, Promise<Entry<Value>>>()
  #invalidBeforeMs = -Infinity

  constructor({ now, random, isMissing, ...options }: Options<Value>) {
    this.#options = {
      ...options,
      isMissing: isMissing ?? (() => false),
      now: now ?? (() => performance.now()),
      random: random ?? Math.random,
    }
    this.#entries = new LRUCache(limitEntries(options.capacity))
  }

  /** The number of entries. */
  get size(): number {
    return this.#entries.size
  }

  /**
   * Returns the value of a key; a promise only when the database is queried. `onUnknown` is called before the lookup
   * of a key without a cached value; an error that it throws propagates.
   */
  of(key: string, onUnknown?: () => void): MaybePromise<Value> {
    const knownEntry = this.findKnown(key)
    if (knownEntry) return knownEntry.value
    const entry = this.#entries.peek(key)
    const isKnown = entry && !this.#options.isMissing(entry.value)
    if (!isKnown && !this.#pending.has(key)) onUnknown?.()
    return this.#fetch(key).then(({ value }) => value)
  }

  /** Returns the value of a key as `of` does, undefined if the database has to be queried. */
  findKnown(key: string): Readonly<Pick<Entry<Value>, 'value'>> | undefined {
    const entry = this.#entries.get(key, noOptions)
    if (!entry || this.#isSpared(entry)) return entry
    if (!this.#isTrusted(entry)) return undefined
    if (this.#options.now() > entry.renewAtMs) this.#fetch(key).catch(() => undefined)
    return entry
  }

  /** Invalidates a key whose row was changed or deleted. */
  invalidate(key: string): void {
    this.#entries.delete(key)
    this.#pending.delete(key)
  }

  /** Invalidates all keys whose value matches. */
  invalidateWhere(matches: (value: Value) => boolean): void {
    for (const [key, { value }] of this.#entries.entries()) if (matches(value)) this.invalidate(key)
    // A lookup under way may have read the row before the change.
    this.#pending.clear()
  }

  /** Invalidates everything, as notifications may have been missed: each entry is looked up again before use. */
  invalidateAll(): void {
    this.#invalidBeforeMs = this.#options.now()
    this.#pending.clear()
  }

  #isTrusted({ value, fetchedAtMs }: Entry<Value>): boolean {
    const { isMissing, now } = this.#options
    const lifeMs = isMissing(value) ? missingTrustMs : trustMs
    return fetchedAtMs > this.#invalidBeforeMs && now() - fetchedAtMs < lifeMs
  }

  /** Whether the database has just failed for this key, and the value is still usable without it. */
  #isSpared({ value, fetchedAtMs, failedAtMs }: Entry<Value>): boolean {
    if (failedAtMs === -Infinity) return false
    const now = this.#options.now()
    const hasJustFailed = failedAtMs > this.#invalidBeforeMs && now - failedAtMs < retryAfterMs
    return hasJustFailed && !this.#options.isMissing(value) && now - fetchedAtMs < staleOnErrorMs
  }

  #fetch(key: string): Promise<Entry<Value>> {
    const running = this.#pending.get(key)
    if (running) return running
    const { lookUp, now, random, isMissing } = this.#options
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
          // A lookup that was invalidated meanwhile answers its waiting callers, but is not cached.
          if (this.#pending.get(key) === fetching) this.#entries.set(key, entry)
          return entry
        },
        (cause: unknown) => {
          const knownEntry = this.#entries.peek(key)
          const isGood = knownEntry && !isMissing(knownEntry.value)
          if (!isGood || started - knownEntry.fetchedAtMs >= staleOnErrorMs)
            throw unavailable(cause)
          knownEntry.failedAtMs = now()
          return knownEntry
        },
      )
      .finally(() => {
        if (this.#pending.get(key) === fetching) this.#pending.delete(key)
      })
    this.#pending.set(key, fetching)
    return fetching
  }
}
