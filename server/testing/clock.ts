import type { Clock, Timer } from '../src/platform/clock'

interface TestTimer extends Timer {
  dueMs: number
  readonly run: () => void
  readonly everyMs: number | undefined
}

/** Lets what promises have resolved run to its end, in one turn of the event loop. No timer is waited for. */
export const settled = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve))

/**
 * A clock that stands still until a test moves it. Timers run in the order in which they are due; after each, what
 * follows from it by promises runs to its end before the next.
 */
export class TestClock implements Clock {
  // Neither begins at zero, which code could take for "not yet".
  #monotonicMs = 1_000_000
  #wallMs = Date.UTC(2030, 0, 1)
  readonly #timers = new Set<TestTimer>()

  // As properties, because ports are taken apart: `const { monotonicMs } = clock`.
  readonly monotonicMs = (): number => this.#monotonicMs
  readonly wallMs = (): number => this.#wallMs

  readonly after = <Argument>(
    ms: number,
    run: (argument?: Argument) => void,
    argument?: Argument,
  ): Timer => this.#start(ms, () => run(argument))

  readonly every = (ms: number, run: () => void): Timer => this.#start(ms, run, toDelay(ms))

  readonly sleep = (ms: number): Promise<void> =>
    new Promise((resolve) => void this.after(ms, resolve))

  /** The number of timers that are due later: none once the code under test has ended. */
  get pending(): number {
    return this.#timers.size
  }

  /** Lets time pass. Rejects as the first callback does that throws. */
  async advance(ms: number): Promise<void> {
    const endMs = this.#monotonicMs + ms
    await settled()
    for (let next = this.#next(endMs); next; next = this.#next(endMs)) await this.#runOne(next)
    this.#passTo(endMs)
  }

  /**
   * Blocks the process: no timer runs meanwhile. Those that came due run late, and intervals once, in the next turn of
   * the event loop; what other processes answered meanwhile is resolved by the test after that.
   */
  async stall(ms: number): Promise<void> {
    this.#passTo(this.#monotonicMs + ms)
    await this.advance(0)
  }

  /**
   * Lets time pass, from timer to timer, until the work has ended, and settles as it does.
   *
   * @throws {Error} where no timer is left and the work has not ended: it would wait for ever.
   */
  async run<Value>(work: Promise<Value>): Promise<Value> {
    let isOver = false
    const end = () => {
      isOver = true
    }
    work.then(end, end)
    for (;;) {
      await settled()
      if (isOver) return await work
      const next = this.#next(Infinity)
      if (!next) throw new Error('the work waits, and no timer is left')
      await this.#runOne(next)
    }
  }

  /** Turns the wall clock, as operators and time servers do. Monotonic time and timers know nothing of it. */
  turnWall(byMs: number): void {
    this.#wallMs += byMs
  }

  #start(ms: number, run: () => void, everyMs?: number): Timer {
    const timer: TestTimer = {
      dueMs: this.#monotonicMs + toDelay(ms),
      run,
      everyMs,
      unref: () => timer,
      [Symbol.dispose]: () => void this.#timers.delete(timer),
    }
    this.#timers.add(timer)
    return timer
  }

  /** The first one that is due by then; of several at one time the one that was started first. */
  #next(byMs: number): TestTimer | undefined {
    let first: TestTimer | undefined
    for (const timer of this.#timers) {
      if (timer.dueMs <= byMs && (!first || timer.dueMs < first.dueMs)) first = timer
    }
    return first
  }

  async #runOne(timer: TestTimer): Promise<void> {
    this.#passTo(timer.dueMs)
    this.#timers.delete(timer)
    if (timer.everyMs !== undefined) {
      timer.dueMs = this.#monotonicMs + timer.everyMs
      this.#timers.add(timer)
    }
    timer.run()
    await settled()
  }

  #passTo(ms: number): void {
    const byMs = Math.max(0, ms - this.#monotonicMs)
    this.#monotonicMs += byMs
    this.#wallMs += byMs
  }
}

/** Whole milliseconds, at least one, as timers of the runtime have it. */
const toDelay = (ms: number) => Math.max(1, Math.trunc(ms))
