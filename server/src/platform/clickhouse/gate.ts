import { ClickHouseUnavailable } from './failure'

interface GateOptions {
  /** A monotonic clock, in milliseconds. */
  nowMs: () => number
  maxRunning: number
}

/** Failures in a row that open the circuit breaker. */
const minFailures = 3
const firstOpenMs = 2000
const maxOpenMs = 30_000

/**
 * Bounds the requests to one server. After some that were not answered it rejects further ones at once for a while, and
 * then lets single ones through, until one is answered.
 */
export class RequestGate {
  readonly #options: GateOptions
  #running = 0
  #failures = 0
  #openMs = firstOpenMs
  #closedAtMs = -Infinity

  constructor(options: GateOptions) {
    this.#options = options
  }

  /** Whether requests are rejected, apart from single ones. */
  get isOpen(): boolean {
    return this.#failures >= minFailures
  }

  /** Runs a request; a rejection with `ClickHouseUnavailable` counts as a failure. Rejects with that, too. */
  async run<Result>(request: () => Promise<Result>): Promise<Result> {
    this.#admit()
    this.#running += 1
    try {
      const result = await request()
      this.#reset()
      return result
    } catch (thrown) {
      if (thrown instanceof ClickHouseUnavailable) this.#countFailure()
      else this.#reset()
      throw thrown
    } finally {
      this.#running -= 1
    }
  }

  #admit(): void {
    const { nowMs, maxRunning } = this.#options
    if (this.#running >= maxRunning) {
      throw new ClickHouseUnavailable(`${maxRunning} requests to ClickHouse are running`)
    }
    if (!this.isOpen) return
    if (nowMs() < this.#closedAtMs) throw new ClickHouseUnavailable('ClickHouse did not answer')
    // This request is a probe: the next one follows after as long a time.
    this.#closedAtMs = nowMs() + this.#openMs
  }

  #countFailure(): void {
    this.#failures += 1
    if (this.#failures < minFailures) return
    if (this.#failures > minFailures) this.#openMs = Math.min(maxOpenMs, 2 * this.#openMs)
    this.#closedAtMs = this.#options.nowMs() + this.#openMs
  }

  #reset(): void {
    this.#failures = 0
    this.#openMs = firstOpenMs
  }
}
