const gapMs = 100
const burst = 5

/** Limits the rate of lease work for one account, so that nodes do not fight over a balance. */
export class LeaseThrottle {
  #times: number[] = []

  /** Returns the wait in milliseconds before the next piece of work, which then begins. */
  next(nowMs: number): number {
    this.#times = this.#times.filter((time) => nowMs - time < burst * gapMs)
    const waitMs = this.#times.length >= burst ? gapMs : 0
    this.#times.push(nowMs + waitMs)
    return waitMs
  }
}
