import { Periodic } from './periodic'
import { withTimeout } from './with-timeout'

interface Options {
  /** The timeout of a call, in milliseconds. */
  deadlineMs: number
  /** Called twice a second while the service is unavailable; rejects while it is. */
  probe: () => Promise<unknown>
  onError: (error: Error) => void
  /** The service is back after it was away. */
  onBack: () => void
}

const failuresToOpen = 5
const probeEveryMs = 500

/**
 * A circuit breaker around a service that this process depends on: a call has a timeout, and after five failures in a
 * row all calls are rejected at once until a probe in the background is answered in time.
 */
export class Availability implements Disposable {
  readonly #options: Options
  readonly #probing: Periodic
  #failures = 0
  #isAway = false

  constructor(options: Options) {
    this.#options = options
    this.#probing = new Periodic({ intervalMs: probeEveryMs, run: () => this.#probe() })
  }

  /** Whether calls are rejected at once. */
  get isAway(): boolean {
    return this.#isAway
  }

  /** Rejects as the call does, on timeout, and at once while the service is unavailable. */
  async run<Answer>(call: () => Promise<Answer>): Promise<Answer> {
    const { deadlineMs, onError } = this.#options
    if (this.#isAway) throw new Error('the service is unavailable')
    try {
      const answer = await withTimeout(call(), deadlineMs)
      this.#failures = 0
      return answer
    } catch (thrown) {
      this.#failures += 1
      if (this.#failures >= failuresToOpen && !this.#isAway) {
        this.#isAway = true
        onError(thrown instanceof Error ? thrown : new Error(String(thrown)))
      }
      throw thrown
    }
  }

  async #probe(): Promise<void> {
    if (!this.#isAway) return
    const { probe, deadlineMs, onBack } = this.#options
    try {
      await withTimeout(probe(), deadlineMs)
    } catch {
      return
    }
    this.#failures = 0
    this.#isAway = false
    onBack()
  }

  [Symbol.dispose](): void {
    this.#probing.stop()
  }
}
