interface Most {
  most: number
  mostOfOwner: number
}

interface Waiting {
  owner: string
  enter: () => void
}

/**
 * How much is fetched at the same time, in all and for one owner. Whoever finds no place waits, in
 * order; one whose owner has too many does not keep the others waiting.
 */
export class FetchPlaces {
  readonly #most: Most
  readonly #taken: string[] = []
  readonly #waiting: Waiting[] = []

  constructor(most: Most) {
    this.#most = most
  }

  /** A place, to be disposed of. Rejects with the reason of the signal. */
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
      // A place that was just given is used, and left soon.
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
