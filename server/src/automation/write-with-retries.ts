/** The delays before each retry of a write, in milliseconds. */
const stepsMs = [200, 1000, 3000]
/** The time after which a write is not retried, as a client waits for it. */
const maxMs = 15_000

export interface Clock {
  pause: (ms: number) => Promise<void>
  /** Monotonic milliseconds. */
  nowMs: () => number
}

export const realClock: Clock = {
  pause: (ms) => Bun.sleep(ms),
  nowMs: () => performance.now(),
}

/**
 * Writes, and retries a limited number of times where the database fails. `isRetry`: an earlier attempt may have taken
 * effect in spite of its failure, as only its answer may be lost. Rejects as the last attempt did.
 */
export async function writeWithRetries<Value>(
  write: (isRetry: boolean) => Promise<Value>,
  { pause, nowMs }: Clock,
): Promise<Value> {
  const startedAtMs = nowMs()
  for (let attempt = 0; ; attempt++) {
    try {
      return await write(attempt > 0)
    } catch (thrown) {
      const inMs = stepsMs[attempt]
      if (inMs === undefined || nowMs() - startedAtMs + inMs > maxMs) throw thrown
      await pause(inMs)
    }
  }
}
