interface Most {
  most: number
  mostOfOwner: number
}

interface Waiting {
  owner: string
  enter: () => void
}

/**
 * Limits the image fetches that run at the same time, in all and for one owner. A fetch without a place waits, in
 * order; an owner with too many does not delay the others.
 */
export class FetchPlaces {
  readonly #most: Most
  readonly #taken: string[] = []
  readonly #waiting: Waiting[] = []

  constructor(most: Most) {
    this.#most = most
  }

  /** Returns a place, to be disposed of. Rejects with the reason of the signal. */
  async enter(owner: string, signal: AbortSignal): Promise<Disposable> {
    signal.throwIfAborted()
    if (this.#isFree(owner)) this.#taken.push(owner)
    else await this.#wait(owner, signal)
    return { [Symbol.dispose]: () => this.#leave(owner) }
  }

  async #wait(owner: string, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const waiting: Waiting = { owner, enter: resolve }
    const giveUp = () => {
      const position = this.#waiting.indexOf(waiting)
      // A place that was just granted is used, and released soon.
      if (position !== -1) this.#waiting.splice(position, 1)
      reject(signal.reason)
    }
    this.#waiting.push(waiting)
    signal.addEventListener('abort', giveUp, { once: true })
    try {
      await promise
    } finally {
      signal.removeEventListener('abort', giveUp)
    }
  }

  #isFree(owner: string): boolean {
    const { most, mostOfOwner } = this.#most
    if (this.#taken.length >= most) return false
    return this.#taken.filter((taken) => taken === owner).length < mostOfOwner
  }

  #leave(owner: string): void {
    this.#taken.splice(this.#taken.indexOf(owner), 1)
    const position = this.#waiting.findIndex((waiting) => this.#isFree(waiting.owner))
    const [next] = position === -1 ? [] : this.#waiting.splice(position, 1)
    if (!next) return
    this.#taken.push(next.owner)
    next.enter()
  }
}
