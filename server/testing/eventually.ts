/** A wait that was given up. CI runs a file that fails by it once more, alone: a slow machine is no defect. */
export class WaitTimeoutError extends Error {
  override readonly name = 'WaitTimeoutError'

  constructor(awaited: string, timeoutMs: number) {
    super(`not within ${timeoutMs / 1000} s: ${awaited}`)
  }
}

/** `TEST_WAIT_FACTOR` multiplies every wait, for machines that are slow throughout. */
const factor = Number(process.env['TEST_WAIT_FACTOR'] ?? 1)

/** The timeout of a wait in milliseconds, for those that `eventually` cannot do. */
export const waitTimeoutMs = 30_000 * factor

/**
 * Waits until `condition` holds. Resolves with the milliseconds that it took; how long it should take is for `recordFigure`,
 * not for a shorter timeout. The condition is read every 5 ms at first, later less often: a wait of half a minute stays
 * below the rates of the API.
 *
 * @param timeoutMs of what takes longer than half a minute on any machine, before the factor.
 * @throws {WaitTimeoutError} with the text of the condition.
 */
export async function eventually(
  condition: () => boolean | Promise<boolean>,
  timeoutMs = 30_000,
): Promise<number> {
  const startedAtMs = performance.now()
  const limitMs = timeoutMs * factor
  while (!(await condition())) {
    const waitedMs = performance.now() - startedAtMs
    if (waitedMs > limitMs) throw new WaitTimeoutError(condition.toString(), limitMs)
    await Bun.sleep(Math.min(5 + waitedMs / 10, 200))
  }
  return performance.now() - startedAtMs
}
