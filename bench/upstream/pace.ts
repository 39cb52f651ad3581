import type { Caller } from './caller'
import { systemClock, type Clock, type Timer } from '../../server/src/platform/clock'

/** The part of a connection that is paced. */
type Paced = Pick<Caller, 'step'>

/** Paces the pieces of streams: without a gap one a turn of the event loop, else by a clock of 1 ms. */
export class Pace {
  readonly #hasty = new Set<Paced>()
  /** The streams of each gap, in milliseconds. */
  readonly #rings = new Map<number, Ring>()
  #isStepping = false
  readonly #clock: Clock
  #ticking: Timer | undefined
  #nowMs = 0

  constructor(clock: Clock = systemClock) {
    this.#clock = clock
  }

  /** Adds a stream, and sends its first piece at once. */
  add(caller: Paced, gapMs: number): void {
    if (!caller.step()) return
    if (gapMs > 0) return this.#addTimed(caller, gapMs)
    this.#hasty.add(caller)
    if (this.#isStepping) return
    this.#isStepping = true
    setImmediate(() => this.#stepAll())
  }

  remove(caller: Paced): void {
    this.#hasty.delete(caller)
    for (const ring of this.#rings.values()) ring.remove(caller)
  }

  #stepAll(): void {
    for (const caller of this.#hasty) if (!caller.step()) this.#hasty.delete(caller)
    this.#isStepping = this.#hasty.size > 0
    if (this.#isStepping) setImmediate(() => this.#stepAll())
  }

  #addTimed(caller: Paced, gapMs: number): void {
    let ring = this.#rings.get(gapMs)
    if (!ring) this.#rings.set(gapMs, (ring = new Ring(gapMs)))
    ring.add(caller)
    if (this.#ticking) return
    this.#nowMs = Math.floor(this.#clock.monotonicMs())
    this.#ticking = this.#clock.every(1, () => this.#tick())
  }

  #tick(): void {
    const now = Math.floor(this.#clock.monotonicMs())
    const passedMs = now - this.#nowMs
    this.#nowMs = now
    for (const ring of this.#rings.values()) ring.advance(passedMs)
    if ([...this.#rings.values()].some(({ size }) => size > 0)) return
    this.#ticking?.[Symbol.dispose]()
    this.#ticking = undefined
  }
}

/** Streams with one gap, by the millisecond of it at which the next piece is due. */
class Ring {
  readonly #slots: readonly Set<Paced>[]
  readonly #slotOf = new Map<Paced, Set<Paced>>()
  #at = 0

  constructor(gapMs: number) {
    this.#slots = Array.from({ length: gapMs }, () => new Set())
  }

  get size(): number {
    return this.#slotOf.size
  }

  add(caller: Paced): void {
    // The slot that was just sent: its next turn is a whole gap away.
    const slot = this.#slots.at(this.#at - 1)
    if (!slot) return
    slot.add(caller)
    this.#slotOf.set(caller, slot)
  }

  remove(caller: Paced): void {
    this.#slotOf.get(caller)?.delete(caller)
    this.#slotOf.delete(caller)
  }

  /** Sends what is due. Catches up on milliseconds that the event loop missed, one round at most. */
  advance(passedMs: number): void {
    for (let count = 0; count < Math.min(passedMs, this.#slots.length); count++) {
      const due = this.#slots[this.#at] ?? []
      this.#at = (this.#at + 1) % this.#slots.length
      for (const caller of due) if (!caller.step()) this.remove(caller)
    }
  }
}
