import { systemClock, type Clock, type Timer } from './clock'

interface PeriodicOptions {
  intervalMs: number
  run: () => void | Promise<void>
  /** Reports a failed run; without it, a failure is an unhandled rejection, which stops the process. */
  onError?: (error: unknown) => void
  clock?: Clock
}

/**
 * Work that is repeated at an interval, first after one interval, until it is stopped. It never runs twice at once: a
 * run that is due while the one before still goes on is left out. Its timer does not keep the process alive.
 */
export class Periodic implements AsyncDisposable {
  readonly #options: PeriodicOptions
  readonly #timer: Timer
  #running: Promise<void> | undefined
  /** Whether it was stopped: a long run may look, and end early. */
  isStopped = false

  constructor(options: PeriodicOptions) {
    this.#options = options
    const { clock = systemClock, intervalMs } = options
    this.#timer = clock.every(intervalMs, () => this.#tick())
    this.#timer.unref()
  }

  #tick(): void {
    this.#running ??= this.#run().finally(() => (this.#running = undefined))
  }

  async #run(): Promise<void> {
    const { run, onError } = this.#options
    try {
      await run()
    } catch (error) {
      if (!onError) throw error
      // What a shutdown interrupts fails for that reason alone.
      if (!this.isStopped) onError(error)
    }
  }

  /** Starts no further run. The current one is not waited for, and its errors are not reported. */
  stop(): void {
    this.isStopped = true
    this.#timer[Symbol.dispose]()
  }

  /** Stops, and resolves once the current run has ended. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.stop()
    await this.#running
  }
}
