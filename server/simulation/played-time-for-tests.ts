import { drainMicrotasks } from 'bun:jsc'
import type { Timer } from '../src/platform/clock'

/** Runs timers without waiting, in the order of their moments, on its own clock. */
export class PlayedTime {
  nowMs = 0
  #next = 1
  readonly #timers = new Map<number, { atMs: number; run: () => void }>()

  after(ms: number, run: () => void): Timer {
    const id = this.#next++
    this.#timers.set(id, { atMs: this.nowMs + ms, run })
    const timer: Timer = {
      unref: () => timer,
      [Symbol.dispose]: () => void this.#timers.delete(id),
    }
    return timer
  }

  delay(ms: number): Promise<void> {
    return new Promise((resolve) => void this.after(ms, resolve))
  }

  /** Runs until the work has ended. Throws its rejection, or where no timer is left. */
  play(work: () => Promise<void>): void {
    const real = { setTimeout, clearTimeout, setImmediate }
    const clock: { now: () => number } = performance
    const { now } = clock
    Object.assign(globalThis, {
      setTimeout: (run: () => void, ms = 0) => this.after(Math.max(1, ms), run),
      setImmediate: (run: () => void) => this.after(0, run),
      clearTimeout: (timer?: Timer) => timer?.[Symbol.dispose](),
    })
    clock.now = () => this.nowMs
    const end: { isOver: boolean; thrown?: unknown } = { isOver: false }
    try {
      void work().then(
        () => (end.isOver = true),
        (thrown: unknown) => Object.assign(end, { isOver: true, thrown }),
      )
      drainMicrotasks()
      while (!end.isOver) this.#playNext()
    } finally {
      Object.assign(globalThis, real)
      clock.now = now
    }
    if ('thrown' in end) throw end.thrown
  }

  #playNext(): void {
    let first: [number, { atMs: number; run: () => void }] | undefined
    for (const timer of this.#timers) {
      if (!first || timer[1].atMs < first[1].atMs) first = timer
    }
    if (!first) throw new Error('no timer is left')
    const [id, { atMs, run }] = first
    this.#timers.delete(id)
    this.nowMs = atMs
    run()
    drainMicrotasks()
  }
}
