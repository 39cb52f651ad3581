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
    await Bun.sleep(pauseMs(waitedMs))
  }
  return performance.now() - startedAtMs
}

/**
 * Reads a value until it is as awaited, and returns it: where the error should name what was read last.
 *
 * @throws {WaitTimeoutError} with the text of the condition and that value.
 */
export async function eventuallyReads<Value, Awaited extends Value>(
  read: () => Value | Promise<Value>,
  isAwaited: (value: Value) => value is Awaited,
  timeoutMs?: number,
): Promise<Awaited>
export async function eventuallyReads<Value>(
  read: () => Value | Promise<Value>,
  isAwaited: (value: Value) => boolean,
  timeoutMs?: number,
): Promise<Value>
export async function eventuallyReads<Value>(
  read: () => Value | Promise<Value>,
  isAwaited: (value: Value) => boolean,
  timeoutMs = 30_000,
): Promise<Value> {
  const startedAtMs = performance.now()
  const limitMs = timeoutMs * factor
  for (;;) {
    const value = await read()
    if (isAwaited(value)) return value
    const waitedMs = performance.now() - startedAtMs
    if (waitedMs > limitMs) {
      throw new WaitTimeoutError(`${isAwaited.toString()}, read ${Bun.inspect(value)}`, limitMs)
    }
    await Bun.sleep(pauseMs(waitedMs))
  }
}

const pauseMs = (waitedMs: number) => Math.min(5 + waitedMs / 10, 200)

/** Waits until an instant, in milliseconds of `Date.now()`, is past. */
export const untilPast = (instantMs: number): Promise<number> =>
  eventually(() => Date.now() > instantMs, Math.max(30_000, 2 * (instantMs - Date.now())))
