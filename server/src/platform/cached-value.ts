import { withTimeout } from './with-timeout'

interface Options<Value> {
  read: () => Promise<Value>
  /** The time for which a value is fresh, in milliseconds. */
  keepMs: number
  /** Monotonic milliseconds. */
  now?: () => number
}

const readTimeoutMs = 5000
/** While the database is unavailable, the last value is better than none. */
const staleMs = 300_000

/**
 * Caches a value that is expensive to read and may be some seconds old; concurrent callers share one read. After a
 * failed read the last value stays in use for five minutes.
 */
export class CachedValue<Value> {
  readonly #options: Options<Value>
  readonly #now: () => number
  #cachedEntry: { value: Value; readAtMs: number } | undefined
  #reading: Promise<Value> | undefined

  constructor(options: Options<Value>) {
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
  }

  /** Returns the value. Rejects as the read does, or when it takes more than five seconds. */
  async get(): Promise<Value> {
    const cachedEntry = this.#cachedEntry
    if (cachedEntry && this.#ageOf(cachedEntry) < this.#options.keepMs) return cachedEntry.value
    try {
      return await (this.#reading ??= this.#read())
    } catch (error) {
      if (cachedEntry && this.#ageOf(cachedEntry) < staleMs) return cachedEntry.value
      throw error
    }
  }

  /** Invalidates the value after a change: the next caller waits for a new read. */
  invalidate(): void {
    this.#cachedEntry = undefined
    this.#reading = undefined
  }

  #ageOf({ readAtMs }: { readAtMs: number }): number {
    return this.#now() - readAtMs
  }

  #read(): Promise<Value> {
    const readAtMs = this.#now()
    const reading = withTimeout(this.#options.read(), readTimeoutMs)
      .then((value) => {
        // A read that was invalidated meanwhile answers its waiting callers, but is not cached.
        if (this.#reading === reading) this.#cachedEntry = { value, readAtMs }
        return value
      })
      .finally(() => {
        if (this.#reading === reading) this.#reading = undefined
      })
    return reading
  }
}
