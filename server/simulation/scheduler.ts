import { AsyncLocalStorage } from 'node:async_hooks'
import { drainMicrotasks } from 'bun:jsc'
import { EventQueue, type SimulatedEvent } from './event-queue'

/**
 * A process of the simulation: one start of a node. Its events run while it lives, later if it is
 * frozen, and never once it has died.
 */
export interface SimulatedProcess {
  readonly name: string
  isAlive: boolean
  /** Frozen until then, by the simulated clock. */
  frozenUntilMs: number
  /** The offset of its wall clock from the simulated one. */
  wallOffsetMs: number
}

interface ScheduledEvent extends SimulatedEvent {
  process: SimulatedProcess | undefined
  run: (() => void) | undefined
  everyMs?: number | undefined
}

/** The start of simulated wall clocks, in 2026. */
const epochMs = Date.UTC(2026, 0, 1)

/**
 * The single clock and thread of a simulation. Events run in the order of their moments; after each one
 * all microtasks run, so that a run is deterministic. While it runs, `setTimeout` and related functions, `Date.now`
 * and `performance.now` are replaced by simulated ones.
 */
export class Scheduler {
  readonly #queue = new EventQueue<ScheduledEvent>()
  #nowMs = 0
  #order = 0
  #events = 0
  /** The process whose code runs: propagates through its promises, whatever resolves them. */
  readonly #running = new AsyncLocalStorage<SimulatedProcess | undefined>()

  /** Simulated time in milliseconds since the start. */
  get nowMs(): number {
    return this.#nowMs
  }

  /** The number of events so far. */
  get events(): number {
    return this.#events
  }

  /** Returns the wall clock of a process, or that of the outside world. */
  wallMs(process?: SimulatedProcess): number {
    return epochMs + Math.floor(this.#nowMs) + (process?.wallOffsetMs ?? 0)
  }

  /** Schedules work for a process, or for the outside world. */
  after(delayMs: number, run: () => void, process?: SimulatedProcess): void {
    this.#schedule(delayMs, run, { process })
  }

  /** Runs work as a process, and its microtasks with it. */
  runAs(process: SimulatedProcess, run: () => void): void {
    this.#running.run(process, run)
    drainMicrotasks()
  }

  /** Runs all events until a moment. */
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
        new SimulatedTimer(this.#schedule(Math.max(1, ms), run, owned())),
      setInterval: (run: () => void, ms = 1) =>
        new SimulatedTimer(this.#schedule(ms, run, { ...owned(), everyMs: Math.max(1, ms) })),
      setImmediate: (run: () => void) => new SimulatedTimer(this.#schedule(0, run, owned())),
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

/** The timer of a simulation. A class: closures for each timer took a tenth of the time of a run. */
class SimulatedTimer implements Disposable {
  readonly #event: ScheduledEvent

  constructor(event: ScheduledEvent) {
    this.#event = event
  }

  ref(): this {
    return this
  }

  unref(): this {
    return this
  }

  [Symbol.dispose](): void {
    this.#event.run = undefined
  }
}

function clear(timer?: unknown): void {
  if (timer instanceof SimulatedTimer) timer[Symbol.dispose]()
}
