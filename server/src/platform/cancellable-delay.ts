import { systemClock, type Clock } from './clock'

/**
 * A cancellable delay. A race with a promise that ends it would leave a reaction at that promise each time: where
 * delays follow each other for years, that is a leak.
 */
export class CancellableDelay {
  readonly #clock: Clock
  #resolve: (() => void) | undefined

  constructor(clock = systemClock) {
    this.#clock = clock
  }

  /** Resolves after `ms` milliseconds, or when it is cancelled. One at a time. */
  async wait(ms: number): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    const timer = this.#clock.after(ms, resolve)
    this.#resolve = resolve
    await promise
    timer[Symbol.dispose]()
    this.#resolve = undefined
  }

  /** Does nothing where no delay runs. */
  cancel(): void {
    this.#resolve?.()
  }
}
