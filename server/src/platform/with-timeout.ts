/** The message matches the database driver's own, and so makes a 503 of the error (`http/render.ts`). */
export const noAnswer = () => new Error('no answer in time: timeout')

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
  late: () => Error = noAnswer,
): Promise<Value> {
  const { promise: timeout, reject } = Promise.withResolvers<never>()
  let timer: ReturnType<typeof setTimeout> | undefined
  const rejectAfter = (waitMs: number, stalls: number) => {
    const dueMs = performance.now() + waitMs
    timer = setTimeout(() => {
      if (stalls < maxStalls && performance.now() - dueMs >= stallMs)
        rejectAfter(stallMs, stalls + 1)
      else reject(late())
    }, waitMs)
  }
  rejectAfter(ms, 0)
  try {
    return await Promise.race([promise, timeout])
  } finally {
    clearTimeout(timer)
  }
}
