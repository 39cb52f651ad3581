import type { Deadline } from '../routing/deadline'
import { ClientGone } from '../wire/chunk-stream'

interface Options {
  /** At once, in this process. */
  most: number
  /** How long each may take. */
  lifeMs: number
}

/**
 * The answers that are read to their end though their callers have gone, as their providers bill all
 * of them anyway. They belong to no connection, so they are counted and timed here.
 */
export class Drains {
  readonly #options: Options
  readonly #running = new Map<Disposable, Deadline>()
  #isClosed = false
  #emptied: PromiseWithResolvers<void> | undefined

  constructor(options: Options) {
    this.#options = options
  }

  get size(): number {
    return this.#running.size
  }

  /**
   * Leave to go on with an attempt until it is disposed of, at most for its time; then its deadline is
   * cancelled. Undefined where too many go on already, or the process stops.
   */
  begin(deadline: Deadline): Disposable | undefined {
    const { most, lifeMs } = this.#options
    if (this.#isClosed || this.#running.size >= most) return undefined
    const timer = setTimeout(() => deadline.cancel(new ClientGone()), lifeMs)
    const drain = {
      [Symbol.dispose]: () => {
        clearTimeout(timer)
        this.#running.delete(drain)
        if (this.#running.size === 0) this.#emptied?.resolve()
      },
    }
    this.#running.set(drain, deadline)
    return drain
  }

  /** Ends all of them: the process stops. Resolves when what they used is written down. */
  async close(): Promise<void> {
    this.#isClosed = true
    this.#emptied ??= Promise.withResolvers()
    for (const deadline of this.#running.values()) deadline.cancel(new ClientGone())
    if (this.#running.size > 0) await this.#emptied.promise
  }
}
