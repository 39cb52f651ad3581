import { AsyncLocalStorage } from 'node:async_hooks'
import { drainMicrotasks } from 'bun:jsc'
import { EventQueue, type SimulatedEvent } from './event-queue'

/**
 * A process of the simulation: one start of a node. What it schedules happens while it lives, later if it is
 * frozen, and never once it has died.
 */
export interface SimulatedProcess {
  readonly name: string
  isAlive: boolean
  /** Its events wait until then, by the simulated clock. */
  frozenUntilMs: number
  /** Its wall clock is ahead of the simulated one by so much. */
  wallOffsetMs: number
}

interface ScheduledEvent extends SimulatedEvent {
  process: SimulatedProcess | undefined
  run: (() => void) | undefined
  everyMs?: number | undefined
}

/** A moment of 2026: simulated wall clocks begin there. */
const epochMs = Date.UTC(2026, 0, 1)

/**
 * The one clock and the one thread of a simulation. Events happen in the order of their moments; after each one
 * all microtasks run, so that a run is the same each time. While it runs, `setTimeout` and its kin, `Date.now`
 * and `performance.now` are the simulated ones.
 */
export class Scheduler {
  readonly #queue = new EventQueue<ScheduledEvent>()
  #nowMs = 0
  #order = 0
  #events = 0
  /** Whose code runs: it goes with its promises, whatever resolves them. */
  readonly #running = new AsyncLocalStorage<SimulatedProcess | undefined>()

  /** Milliseconds since the simulation began. */
  get nowMs(): number {
    return this.#nowMs
  }

  /** How many events have happened. */
  get events(): number {
    return this.#events
  }

  /** The wall clock of a process; that of the outside world without one. */
  wallMs(process?: SimulatedProcess): number {
    return epochMs + Math.floor(this.#nowMs) + (process?.wallOffsetMs ?? 0)
  }

  /** Schedules work of a process, or of the outside world. */
  after(delayMs: number, run: () => void, process?: SimulatedProcess): void {
    this.#schedule(delayMs, run, { process })
  }

  /** Runs work as a process's, and its microtasks with it. */
  runAs(process: SimulatedProcess, run: () => void): void {
    this.#running.run(process, run)
    drainMicrotasks()
  }

  /** Runs all events up to a moment. */
  runUntil(endMs: number): void {
    const restore = this.#replaceGlobals()
    try {
      for (;;) {
        const first = this.#queue.first
        if (!first || first.atMs > endMs) break
        this.#queue.pop()
        this.#nowMs = first.atMs
        this.#happen(first)
      }
      this.#nowMs = endMs
    } finally {
      restore()
    }
  }

  #happen(event: ScheduledEvent): void {
    const { process, run } = event
    if (!run || (process && !process.isAlive)) return
    if (process && process.frozenUntilMs > this.#nowMs) {
      event.atMs = process.frozenUntilMs
      this.#queue.push(event)
      return
    }
    this.#events += 1
    this.#running.run(process, run)
    drainMicrotasks()
    if (event.everyMs !== undefined && event.run) {
      event.atMs = this.#nowMs + event.everyMs
      event.order = this.#order++
      this.#queue.push(event)
    }
  }

  #schedule(
    delayMs: number,
    run: () => void,
    { process, everyMs }: { process: SimulatedProcess | undefined; everyMs?: number },
  ): ScheduledEvent {
    const atMs = this.#nowMs + Math.max(0, delayMs)
    const event = { atMs, order: this.#order++, process, run, everyMs }
    this.#queue.push(event)
    return event
  }

  #replaceGlobals(): () => void {
    const { setTimeout, setInterval, setImmediate } = globalThis
    const { clearTimeout, clearInterval, clearImmediate } = globalThis
    const clocks: { now: () => number }[] = [Date, performance]
    const readings = clocks.map(({ now }) => now)
    const owned = () => ({ process: this.#running.getStore() })
    Object.assign(globalThis, {
      setTimeout: (run: () => void, ms = 0) =>
        timerOf(this.#schedule(Math.max(1, ms), run, owned())),
      setInterval: (run: () => void, ms = 1) =>
        timerOf(this.#schedule(ms, run, { ...owned(), everyMs: Math.max(1, ms) })),
      setImmediate: (run: () => void) => timerOf(this.#schedule(0, run, owned())),
      clearTimeout: clear,
      clearInterval: clear,
      clearImmediate: clear,
    })
    Object.assign(Date, { now: () => this.wallMs(this.#running.getStore()) })
    Object.assign(performance, { now: () => this.#nowMs })
    return () => {
      Object.assign(globalThis, { setTimeout, setInterval, setImmediate })
      Object.assign(globalThis, { clearTimeout, clearInterval, clearImmediate })
      for (const [at, clock] of clocks.entries()) Object.assign(clock, { now: readings[at] })
    }
  }
}

const timerOf = (event: ScheduledEvent) => ({
  event,
  ref: () => undefined,
  unref: () => undefined,
  [Symbol.dispose]: () => (event.run = undefined),
})

function clear(timer?: { event?: ScheduledEvent }): void {
  if (timer?.event) timer.event.run = undefined
}
