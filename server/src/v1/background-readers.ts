import { ApiError } from '../errors'

/**
 * The most streams of background responses that an account reads on this node, beside those of the creating
 * requests.
 */
const maxReaders = 20

/** Counts readers of events, each of which polls the database. */
export class BackgroundReaders {
  readonly #readers = new Map<string, number>()

  /**
   * Returns the function that ends the reader; calling it twice is harmless. Throws `rate_limit_exceeded` for too
   * many.
   */
  admit(userId: string): () => void {
    const readers = this.#readers.get(userId) ?? 0
    if (readers >= maxReaders) throw tooManyReaders()
    this.#readers.set(userId, readers + 1)
    let isIn = true
    return () => {
      if (!isIn) return
      isIn = false
      this.#leave(userId)
    }
  }

  #leave(userId: string): void {
    const remaining = (this.#readers.get(userId) ?? 0) - 1
    if (remaining > 0) this.#readers.set(userId, remaining)
    else this.#readers.delete(userId)
  }
}

const tooManyReaders = () =>
  new ApiError('rate_limit_exceeded', {
    message: `${maxReaders} streams of answers in the background are being read, the most at once. Close one of them.`,
    details: { limit: maxReaders, window: 0, retry_after: 5 },
    retryAfterSeconds: 5,
  })
