import { ApiError } from '../errors'
import { systemClock, type Clock } from '../platform/clock'
import { ClientDisconnected } from '../wire/chunk-stream'

/** The end of a request's wait. */
export interface WaitTimeouts {
  /** By the monotonic clock. */
  endsAtMs: number
  /** Aborts when the client disconnects. */
  signal: AbortSignal
}

/** Returns the awaited value. Rejects with `request_timeout` when the time ends, with `ClientDisconnected` before. */
export async function awaitWithin<Value>(
  promise: Promise<Value>,
  timeouts: WaitTimeouts,
  clock: Clock = systemClock,
): Promise<Value> {
  const { signal, endsAtMs } = timeouts
  const { promise: ended, reject } = Promise.withResolvers<never>()
  const leave = () => reject(new ClientDisconnected())
  const timer = clock.after(Math.max(0, endsAtMs - clock.monotonicMs()), () => reject(late()))
  signal.addEventListener('abort', leave, { once: true })
  if (signal.aborted) leave()
  try {
    return await Promise.race([promise, ended])
  } finally {
    timer[Symbol.dispose]()
    signal.removeEventListener('abort', leave)
  }
}

const late = () =>
  new ApiError('request_timeout', {
    message: 'The first request with this Idempotency-Key is still running. Retry later.',
  })
