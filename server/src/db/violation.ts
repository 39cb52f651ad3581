/** Whether a statement failed because a unique value is taken. */
export const isTaken = (thrown: unknown) =>
  thrown instanceof Error && Reflect.get(thrown, 'code') === '23505'

/** Whether a statement failed because it names a row that is not there, or ends one that is named. */
export const isReferred = (thrown: unknown) =>
  thrown instanceof Error && Reflect.get(thrown, 'code') === '23503'

/** Whether a statement failed because a number is beyond what its column can have. */
export const isOutOfRange = (thrown: unknown) =>
  thrown instanceof Error && Reflect.get(thrown, 'code') === '22003'

/** Whether PostgreSQL refused what was in a statement, as it will again. */
export const isRefused = (thrown: unknown): boolean =>
  thrown instanceof Error && /^2[23]/.test(String(Reflect.get(thrown, 'code')))

/**
 * Whether a single statement that failed has certainly changed nothing: the server said why, or was never reached.
 * A server that stops may have committed before it said so (57P01, 57P02).
 */
export function isUndone(thrown: unknown): boolean {
  const code = thrown instanceof Error ? Reflect.get(thrown, 'code') : undefined
  if (typeof code !== 'string') return false
  return code === 'ECONNREFUSED' || (/^[0-9A-Z]{5}$/.test(code) && !/^(08|57P0[12])/.test(code))
}
