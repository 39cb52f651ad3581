const dayMs = 86_400_000
/** Longer than a file takes that calls `untilDayLasts`, on a busy machine. */
const neededMs = 180_000

/** For the timeout of a hook that calls `untilDayLasts`: the longest that this takes. */
export const dayWaitMs = neededMs + 30_000

/**
 * Waits for midnight (UTC) where it is less than three minutes away: what a test calls today, or this month, when it
 * begins is so when it ends.
 */
export async function untilDayLasts({ nowMs = Date.now(), sleep = Bun.sleep } = {}): Promise<void> {
  const restMs = dayMs - (nowMs % dayMs)
  // A second, because the clock of the database may be another one.
  if (restMs < neededMs) await sleep(restMs + 1000)
}
