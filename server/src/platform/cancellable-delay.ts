/**
 * A cancellable delay. A race with a promise that ends it would leave a reaction at that promise each time: where
 * delays follow each other for years, that is a leak.
 */
export class CancellableDelay {
  #resolve: (() => void) | undefined

  /** Resolves after `ms` milliseconds, or when it is cancelled. One at a time. */
  async wait(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, ms)
    this.#resolve = resolve
    await promise
    clearTimeout(timer)
    this.#resolve = undefined
  }

  /** Does nothing where no delay runs. */
  cancel(): void {
    this.#resolve?.()
  }
}
