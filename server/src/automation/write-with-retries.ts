import { systemClock, type Clock } from '../platform/clock'

/** The delays before each retry of a write, in milliseconds. */
const stepsMs = [200, 1000, 3000]
/** The time after which a write is not retried, as a client waits for it. */
const maxMs = 15_000

/**
 * Writes, and retries a limited number of times where the database fails. `isRetry`: an earlier attempt may have taken
 * effect in spite of its failure, as only its answer may be lost. Rejects as the last attempt did.
 */
export async function writeWithRetries<Value>(
  write: (isRetry: boolean) => Promise<Value>,
  clock: Clock = systemClock,
): Promise<Value> {
  const startedAtMs = clock.monotonicMs()
  for (let attempt = 0; ; attempt++) {
    try {
      return await write(attempt > 0)
    } catch (thrown) {
      const inMs = stepsMs[attempt]
      if (inMs === undefined || clock.monotonicMs() - startedAtMs + inMs > maxMs) throw thrown
      await clock.sleep(inMs)
    }
  }
}
