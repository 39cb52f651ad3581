/** Whether a statement failed because a unique value is taken. */
export const isUniqueViolation = (thrown: unknown) =>
  thrown instanceof Error && Reflect.get(thrown, 'code') === '23505'

/** Whether a statement failed because it references a missing row, or deletes a referenced one. */
export const isReferred = (thrown: unknown) =>
  thrown instanceof Error && Reflect.get(thrown, 'code') === '23503'

/** Whether a statement failed because a number is out of its column's range. */
export const isOutOfRange = (thrown: unknown) =>
  thrown instanceof Error && Reflect.get(thrown, 'code') === '22003'

/** Whether the role of the connection may not do that. */
export const lacksPrivilege = (thrown: unknown) =>
  thrown instanceof Error && Reflect.get(thrown, 'code') === '42501'

/** Whether PostgreSQL rejected the data of a statement, as it would again. */
export const isRefused = (thrown: unknown): boolean =>
  thrown instanceof Error && /^2[23]/.test(String(Reflect.get(thrown, 'code')))

/**
 * Whether a single failed statement has certainly changed nothing: the server returned an error, or was never reached.
 * A stopping server may have committed before it reported that it stops (57P01, 57P02).
 */
export function isUndone(thrown: unknown): boolean {
  const code = thrown instanceof Error ? Reflect.get(thrown, 'code') : undefined
  if (typeof code !== 'string') return false
  return code === 'ECONNREFUSED' || (/^[0-9A-Z]{5}$/.test(code) && !/^(08|57P0[12])/.test(code))
}
