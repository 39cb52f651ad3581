/** The bytes of an answer that may be sent before more are granted. */
export class Window {
  #remaining: number
  #wake: (() => void) | undefined

  constructor(bytes: number) {
    this.#remaining = bytes
  }

  get remaining(): number {
    return this.#remaining
  }

  spend(bytes: number): void {
    this.#remaining -= bytes
  }

  grant(bytes: number): void {
    this.#remaining = Math.min(this.#remaining + bytes, Number.MAX_SAFE_INTEGER)
    this.#wake?.()
  }

  /** Resolves when more bytes are granted. Rejects with the reason of the signal. */
  async granted(signal: AbortSignal): Promise<void> {
    signal.throwIfAborted()
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const stop = () => reject(signal.reason)
    this.#wake = resolve
    signal.addEventListener('abort', stop, { once: true })
    try {
      await promise
    } finally {
      this.#wake = undefined
      signal.removeEventListener('abort', stop)
    }
  }
}
