interface FetchBounds {
  max: number
  maxPerOwner: number
}

interface Waiting {
  owner: string
  grant: () => void
}

/**
 * Limits the image fetches that run at the same time, in all and for one owner. A fetch without a slot waits, in
 * order; an owner with too many does not delay the others.
 */
export class FetchSlots {
  readonly #bounds: FetchBounds
  readonly #running: string[] = []
  readonly #waiting: Waiting[] = []

  constructor(bounds: FetchBounds) {
    this.#bounds = bounds
  }

  /** Returns a slot, to be disposed of. Rejects with the reason of the signal. */
  async acquire(owner: string, signal: AbortSignal): Promise<Disposable> {
    signal.throwIfAborted()
    if (this.#isFree(owner)) this.#running.push(owner)
    else await this.#wait(owner, signal)
    return { [Symbol.dispose]: () => this.#leave(owner) }
  }

  async #wait(owner: string, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiting: Waiting = { owner, grant: resolve }
    const abandon = () => {
      const position = this.#waiting.indexOf(waiting)
      // A slot that was just granted is used, and released soon.
      if (position !== -1) this.#waiting.splice(position, 1)
      reject(signal.reason)
    }
    this.#waiting.push(waiting)
    signal.addEventListener('abort', abandon, { once: true })
    try {
      await promise
    } finally {
      signal.removeEventListener('abort', abandon)
    }
  }

  #isFree(owner: string): boolean {
    const { max, maxPerOwner } = this.#bounds
    if (this.#running.length >= max) return false
    return this.#running.filter((other) => other === owner).length < maxPerOwner
  }

  #leave(owner: string): void {
    this.#running.splice(this.#running.indexOf(owner), 1)
    const position = this.#waiting.findIndex((waiting) => this.#isFree(waiting.owner))
    const [next] = position === -1 ? [] : this.#waiting.splice(position, 1)
    if (!next) return
    this.#running.push(next.owner)
    next.grant()
  }
}
