import { CancellableDelay } from '../platform/cancellable-delay'
import { systemClock, type Clock } from '../platform/clock'
import type { Evaluate } from './evaluate'

interface Options {
  evaluate: Evaluate
  /** The pause between two evaluations, so that many requests share one. */
  everyMs: number
  onFailure: (error: unknown) => void
  clock?: Clock
}

const maxWaiting = 10_000
const batchSize = 100
/** The pause after a slow evaluation is so many times its duration: most of the database is for requests. */
const pauseFactor = 4

/**
 * Evaluates the alerts of accounts soon after their activity. Accounts beyond its capacity wait for the next
 * round.
 */
export class PromptEvaluations implements AsyncDisposable {
  readonly #options: Options
  readonly #clock: Clock
  readonly #waiting = new Set<string>()
  #running: Promise<void> | undefined
  readonly #delay: CancellableDelay
  #isClosed = false

  constructor(options: Options) {
    this.#options = options
    this.#clock = options.clock ?? systemClock
    this.#delay = new CancellableDelay(this.#clock)
  }

  /** Queues accounts for evaluation. Returns at once, and never throws. */
  soon(userIds: Iterable<string>): void {
    if (this.#isClosed) return
    for (const userId of userIds) {
      if (this.#waiting.size < maxWaiting) this.#waiting.add(userId)
    }
    if (this.#waiting.size > 0) this.#running ??= this.#work()
  }

  async #work(): Promise<void> {
    const { evaluate, everyMs, onFailure } = this.#options
    while (this.#waiting.size > 0 && !this.#isClosed) {
      const startedMs = this.#clock.monotonicMs()
      const userIds = [...this.#waiting].slice(0, batchSize)
      for (const userId of userIds) this.#waiting.delete(userId)
      await evaluate(userIds).catch(onFailure)
      const durationMs = this.#clock.monotonicMs() - startedMs
      if (!this.#isClosed) await this.#delay.wait(Math.max(everyMs, pauseFactor * durationMs))
    }
    // In this very moment: an account that is queued from now on begins the next run.
    this.#running = undefined
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true
    this.#delay.cancel()
    await this.#running
  }
}
