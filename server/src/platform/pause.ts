/**
 * A cancellable delay. A race with a promise that ends it would leave a reaction at that promise each time: where
 * delays follow each other for years, that is a leak.
 */
export class Pause {
  #end: (() => void) | undefined

  /** Resolves after `ms` milliseconds, or when it is ended. One at a time. */
  async take(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, ms)
    this.#end = resolve
    await promise
    clearTimeout(timer)
    this.#end = undefined
  }

  /** Does nothing where no delay runs. */
  end(): void {
    this.#end?.()
  }
}
