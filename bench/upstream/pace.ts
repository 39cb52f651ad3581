import type { Caller } from './caller'

/** Paces the pieces of streams: without a gap one a turn of the event loop, else by a clock of 1 ms. */
export class Pace {
  readonly #hasty = new Set<Caller>()
  /** A ring of streams by the millisecond at which the next piece is due. */
  #due: Set<Caller>[] = []
  #dueEnd = 0
  #isTurning = false
  #clock: Timer | undefined
  #nowMs = 0

  /** Adds a stream, and sends its first piece at once. */
  add(caller: Caller, gapMs: number): void {
    if (!caller.step()) return
    if (gapMs > 0) return this.#addTimed(caller, gapMs)
    this.#hasty.add(caller)
    if (this.#isTurning) return
    this.#isTurning = true
    setImmediate(() => this.#turn())
  }

  remove(caller: Caller): void {
    this.#hasty.delete(caller)
    for (const callers of this.#due) callers.delete(caller)
  }

  #turn(): void {
    for (const caller of this.#hasty) if (!caller.step()) this.#hasty.delete(caller)
    this.#isTurning = this.#hasty.size > 0
    if (this.#isTurning) setImmediate(() => this.#turn())
  }

  /** All streams of one provider have the same gap, so the ring has one slot a millisecond of it. */
  #addTimed(caller: Caller, gapMs: number): void {
    if (this.#due.length === 0) this.#due = Array.from({ length: gapMs }, () => new Set())
    this.#due[this.#dueEnd % gapMs]?.add(caller)
    if (this.#clock) return
    this.#nowMs = Math.floor(performance.now())
    this.#clock = setInterval(() => this.#tick(), 1)
  }

  /** Catches up on milliseconds that the event loop missed, one round at most. */
  #tick(): void {
    const places = this.#due.length
    const now = Math.floor(performance.now())
    const missed = Math.min(now - this.#nowMs, places)
    this.#nowMs = now
    for (let count = 0; count < missed; count++) {
      const callers = this.#due[this.#dueEnd % places]
      this.#dueEnd++
      for (const caller of callers ?? []) if (!caller.step()) callers?.delete(caller)
    }
    if (this.#due.some(({ size }) => size > 0)) return
    clearInterval(this.#clock)
    this.#clock = undefined
  }
}
