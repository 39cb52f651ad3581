import { systemClock, type Clock } from '@tollgate/server/platform/clock'

/** Resolves after `ms` milliseconds, or at once when `signal` aborts; never rejects. */
export function pause(ms: number, signal: AbortSignal, clock: Clock = systemClock): Promise<void> {
  if (signal.aborted) return Promise.resolve()
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = clock.after(ms, resolve)
  const stop = () => resolve()
  signal.addEventListener('abort', stop, { once: true })
  return promise.finally(() => {
    timer[Symbol.dispose]()
    signal.removeEventListener('abort', stop)
  })
}
