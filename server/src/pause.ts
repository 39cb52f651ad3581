/**
 * A delay that can be ended early. Racing against a promise that ends it would add a reaction to that promise each
 * time: in a loop that runs for years, that is a memory leak.
 */
export class Pause {
  #end: (() => void) | undefined

  /** Resolves after so many milliseconds, or when it is ended. One at a time. */
  async take(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, ms)
    this.#end = resolve
    await promise
    clearTimeout(timer)
    this.#end = undefined
  }

  /** Does nothing without a delay under way. */
  end(): void {
    this.#end?.()
  }
}
