/** The time for which a unit counts. */
export const windowMs = 60_000
/** Units of one slot expire together, when the last of them has counted for long enough. */
export const slotMs = 250

/**
 * The units taken in the last 60 seconds, in slots of 250 ms: at most 241 slots, and only those with units. However
 * the clock runs, no 60 seconds hold more than the limit; a refused request could at most have been let in 250 ms
 * earlier. Times are of any clock, in whole milliseconds; one that is set back stands still here for a moment, and
 * nothing is lost or expires by it.
 */
export class SlidingWindow {
  /** The time of the last addition to each slot, rising. */
  readonly #lastMs: number[] = []
  readonly #weights: number[] = []
  #used = 0
  #nowMs = -Infinity
  /** How far the clock has been set back since the start. */
  #lagMs = 0

  /** The number of slots with units. */
  get slots(): number {
    return this.#lastMs.length
  }

  /** The units that count now. */
  used(clockMs: number): number {
    this.#advance(clockMs)
    return this.#used
  }

  /** Milliseconds until the oldest units expire; 0 where there are none. */
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
   * Corrects the count that `add` made in a slot. Less is given back where it was counted, unless that has expired;
   * more counts from now on.
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

  /** Mostly the last one; -1 where it has expired. */
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
