/** After how long a write is tried again, in milliseconds. */
const stepsMs = [200, 1000, 3000]
/** After that it is not tried again: somebody waits for it. */
const mostMs = 15_000

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
 * Writes, and where the database fails writes again, some times. `isAgain` says that an earlier try may have been
 * done in spite of its failure: its answer may be what was lost. Rejects as the last try did.
 */
export async function writeWithRetries<Value>(
  write: (isAgain: boolean) => Promise<Value>,
  { pause, nowMs }: Clock,
): Promise<Value> {
  const startedAtMs = nowMs()
  for (let tries = 0; ; tries++) {
    try {
      return await write(tries > 0)
    } catch (thrown) {
      const inMs = stepsMs[tries]
      if (inMs === undefined || nowMs() - startedAtMs + inMs > mostMs) throw thrown
      await pause(inMs)
    }
  }
}
