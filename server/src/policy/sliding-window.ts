/** How long what was taken counts. */
export const windowMs = 60_000
/** What is taken within one slot is let go together, when the last of it has counted for long enough. */
export const slotMs = 250

/**
 * What was taken in the last 60 seconds, in slots of 250 ms: at most 241 of them, and only those that
 * hold something. However the clock runs, no 60 seconds hold more than the limit; what is refused could
 * at most have been let in 250 ms earlier. Times are of any clock, in whole milliseconds; one that is set
 * back stands still here for a moment, and nothing is lost or let go by it.
 */
export class SlidingWindow {
  /** When each slot was last added to, rising. */
  readonly #lastMs: number[] = []
  readonly #weights: number[] = []
  #used = 0
  #nowMs = -Infinity
  /** How far the clock has been set back since the start. */
  #lagMs = 0

  /** How many slots hold something. */
  get slots(): number {
    return this.#lastMs.length
  }

  /** What counts now. */
  used(clockMs: number): number {
    this.#advance(clockMs)
    return this.#used
  }

  /** Milliseconds until the oldest of what counts is let go; 0 where nothing does. */
  resetMs(clockMs: number): number {
    const nowMs = this.#advance(clockMs)
    const [oldestMs] = this.#lastMs
    return oldestMs === undefined ? 0 : oldestMs + windowMs - nowMs
  }

  /**
   * Milliseconds until `weight` fits below `limit` if nothing else happens, 0 for now, Infinity for
   * never.
   */
  waitMs(weight: number, limit: number, clockMs: number): number {
    const nowMs = this.#advance(clockMs)
    let excess = this.#used + weight - limit
    if (excess <= 0) return 0
    if (weight > limit) return Infinity
    let last = -1
    while (excess > 0 && last < this.#weights.length) excess -= this.#weights[++last] ?? 0
    return (this.#lastMs[last] ?? nowMs) + windowMs - nowMs
  }

  /** Counts `weight` from now on, whatever the limit, and returns its slot for `correct`. */
  add(weight: number, clockMs: number): number {
    const nowMs = this.#advance(clockMs)
    const slot = slotOf(nowMs)
    if (weight === 0) return slot
    const last = this.#lastMs.length - 1
    if (slotOf(this.#lastMs[last] ?? -Infinity) === slot) {
      this.#lastMs[last] = nowMs
      this.#weights[last] = (this.#weights[last] ?? 0) + weight
    } else {
      this.#lastMs.push(nowMs)
      this.#weights.push(weight)
    }
    this.#used += weight
    return slot
  }

  /**
   * Makes good that more or less was used than `add` counted in a slot. Less is given back where it was
   * counted, unless it has been let go since; more counts from now on.
   */
  correct(slot: number, delta: number, clockMs: number): void {
    if (delta >= 0) {
      this.add(delta, clockMs)
      return
    }
    this.#advance(clockMs)
    const place = this.#placeOf(slot)
    const held = this.#weights[place]
    if (held === undefined) return
    const given = Math.min(held, -delta)
    this.#used -= given
    this.#weights[place] = held - given
    if (held > given) return
    this.#weights.splice(place, 1)
    this.#lastMs.splice(place, 1)
  }

  /** Mostly the last one; -1 where it has been let go. */
  #placeOf(slot: number): number {
    let place = this.#lastMs.length - 1
    while (place >= 0 && slotOf(this.#lastMs[place] ?? 0) !== slot) place--
    return place
  }

  #advance(clockMs: number): number {
    const wholeMs = Math.floor(clockMs)
    if (wholeMs + this.#lagMs < this.#nowMs) this.#lagMs = this.#nowMs - wholeMs
    this.#nowMs = wholeMs + this.#lagMs
    const goneMs = this.#nowMs - windowMs
    while ((this.#lastMs[0] ?? Infinity) <= goneMs) {
      this.#used -= this.#weights.shift() ?? 0
      this.#lastMs.shift()
    }
    return this.#nowMs
  }
}

const slotOf = (timeMs: number) => Math.floor(timeMs / slotMs)
