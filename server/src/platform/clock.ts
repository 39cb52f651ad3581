/** A callback of a clock that is due later. Disposing of it cancels it; also twice, and once it has run. */
export interface Timer extends Disposable {
  /** Lets the process end before it is due. */
  unref: () => unknown
}

/**
 * Time as a port: what waits, or measures a wait, takes it as the last part of its options, so that a test moves time
 * forward instead of waiting (`server/testing/clock.ts`).
 */
export interface Clock {
  /** Milliseconds that never go back, of this process alone: for durations and deadlines. */
  monotonicMs: () => number
  /** Milliseconds since 1970, which an operator may turn back: for what is stored, shown, or compared with others. */
  wallMs: () => number
  /** Calls once. */
  after(ms: number, run: () => void): Timer
  /** Calls once with an argument, for callers that share one function: a closure for each would cost memory. */
  after<Argument>(ms: number, run: (argument: Argument) => void, argument: Argument): Timer
  /** Calls repeatedly, first after one interval. */
  every: (ms: number, run: () => void) => Timer
  /** Resolves after that time. It cannot be cancelled: a wait that may be is a `CancellableDelay`. */
  sleep: (ms: number) => Promise<void>
}

/** The time of this machine. Its functions look the globals up at each call, which simulations replace. */
export const systemClock: Clock = {
  monotonicMs: () => performance.now(),
  wallMs: () => Date.now(),
  after: <Argument>(ms: number, run: (argument?: Argument) => void, argument?: Argument) =>
    setTimeout(run, ms, argument),
  every: (ms, run) => setInterval(run, ms),
  sleep: (ms) => new Promise((resolve) => void setTimeout(resolve, ms)),
}
