import { systemClock, type Clock, type Timer } from './clock'

/** The message matches the database driver's own, and so makes a 503 of the error (`http/render.ts`). */
export const noAnswer = () => new Error('no answer in time: timeout')

interface Options {
  /** Creates the error of a promise that was not settled in that time. */
  late?: (ms: number) => Error
  clock?: Clock
}

const usual: Options = {}

/** A timer that fires later than this was delayed by this process itself. Milliseconds. */
const stallMs = 10
/** A process that is blocked repeatedly rejects after this many delayed timers. */
const maxStalls = 3

/**
 * Settles as `promise` does, or rejects after `ms`: a frozen server keeps no deadline of its own. If the event loop was
 * blocked when the time was over, an answer that arrived meanwhile is still read: the server was not late.
 */
export async function withTimeout<Value>(
  promise: Promise<Value>,
  ms: number,
  { late = noAnswer, clock = systemClock }: Options = usual,
): Promise<Value> {
  const { promise: timeout, reject } = Promise.withResolvers<never>()
  let timer: Timer | undefined
  const rejectAfter = (waitMs: number, stalls: number) => {
    const dueMs = clock.monotonicMs() + waitMs
    timer = clock.after(waitMs, () => {
      if (stalls < maxStalls && clock.monotonicMs() - dueMs >= stallMs)
        rejectAfter(stallMs, stalls + 1)
      else reject(late(ms))
    })
  }
  rejectAfter(ms, 0)
  try {
    return await Promise.race([promise, timeout])
  } finally {
    timer?.[Symbol.dispose]()
  }
}
