import { withTimeout } from '../with-timeout'

interface Options<Value> {
  read: () => Promise<Value>
  /** For how long a reading is good. */
  keepMs: number
  /** Monotonic milliseconds. */
  now?: () => number
}

const patienceMs = 5000
/** While the database is away, the last reading is better than none. */
const staleMs = 300_000

/**
 * What costs much to read and may be some seconds old: read once for all who ask, and kept. A
 * reading that fails leaves the last one in use for five minutes.
 */
export class CachedValue<Value> {
  readonly #options: Options<Value>
  readonly #now: () => number
  #known: { value: Value; readAtMs: number } | undefined
  #reading: Promise<Value> | undefined

  constructor(options: Options<Value>) {
    this.#options = options
    this.#now = options.now ?? (() => performance.now())
  }

  /** Rejects with what the reading rejects with, or when it takes more than five seconds. */
  async get(): Promise<Value> {
    const known = this.#known
    if (known && this.#ageOf(known) < this.#options.keepMs) return known.value
    try {
      return await (this.#reading ??= this.#read())
    } catch (error) {
      if (known && this.#ageOf(known) < staleMs) return known.value
      throw error
    }
  }

  /** It was changed: whoever asks next waits for a new reading. */
  forget(): void {
    this.#known = undefined
    this.#reading = undefined
  }

  #ageOf({ readAtMs }: { readAtMs: number }): number {
    return this.#now() - readAtMs
  }

  #read(): Promise<Value> {
    const readAtMs = this.#now()
    const reading = withTimeout(this.#options.read(), patienceMs)
      .then((value) => {
        // What was forgotten meanwhile answers those who wait, and is not kept.
        if (this.#reading === reading) this.#known = { value, readAtMs }
        return value
      })
      .finally(() => {
        if (this.#reading === reading) this.#reading = undefined
      })
    return reading
  }
}
