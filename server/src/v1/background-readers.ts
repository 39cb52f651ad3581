import { ApiError } from '../errors'

/** Streams of answers in the background that an account reads on this node, beside those that asked for them. */
const maxReaders = 20

/** Who reads events, each of whom asks the database again and again. */
export class BackgroundReaders {
  readonly #readers = new Map<string, number>()

  /** Returns what to call when it is left; twice is harmless. Throws `rate_limit_exceeded` where there are too many. */
  enter(userId: string): () => void {
    const readers = this.#readers.get(userId) ?? 0
    if (readers >= maxReaders) throw tooMany()
    this.#readers.set(userId, readers + 1)
    let isIn = true
    return () => {
      if (!isIn) return
      isIn = false
      this.#leave(userId)
    }
  }

  #leave(userId: string): void {
    const left = (this.#readers.get(userId) ?? 0) - 1
    if (left > 0) this.#readers.set(userId, left)
    else this.#readers.delete(userId)
  }
}

const tooMany = () =>
  new ApiError('rate_limit_exceeded', {
    message: `${maxReaders} streams of answers in the background are being read, the most at once. Close one of them.`,
    details: { limit: maxReaders, window: 0, retry_after: 5 },
    retryAfterSeconds: 5,
  })
