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

  /** When the units that count now expire: `[inMs, units]`, rising. */
  expiring(clockMs: number): (readonly [number, number])[] {
    const nowMs = this.#advance(clockMs)
    return this.#lastMs.map((lastMs, at) => [lastMs + windowMs - nowMs, this.#weights[at] ?? 0])
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
    const index = this.#indexOf(slot)
    const heldUnits = this.#weights[index]
    if (heldUnits === undefined) return
    const returned = Math.min(heldUnits, -delta)
    this.#used -= returned
    this.#weights[index] = heldUnits - returned
    if (heldUnits > returned) return
    this.#weights.splice(index, 1)
    this.#lastMs.splice(index, 1)
  }

  /** Mostly the last one; -1 where it has expired. */
  #indexOf(slot: number): number {
    let index = this.#lastMs.length - 1
    while (index >= 0 && slotOf(this.#lastMs[index] ?? 0) !== slot) index--
    return index
  }

  #advance(clockMs: number): number {
    const integerMs = Math.floor(clockMs)
    if (integerMs + this.#lagMs < this.#nowMs) this.#lagMs = this.#nowMs - integerMs
    this.#nowMs = integerMs + this.#lagMs
    const expiredMs = this.#nowMs - windowMs
    while ((this.#lastMs[0] ?? Infinity) <= expiredMs) {
      this.#used -= this.#weights.shift() ?? 0
      this.#lastMs.shift()
    }
    return this.#nowMs
  }
}

const slotOf = (timeMs: number) => Math.floor(timeMs / slotMs)
