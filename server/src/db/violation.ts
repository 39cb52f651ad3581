/** Whether a statement failed because a unique value is taken. */
export const isTaken = (thrown: unknown) =>
  thrown instanceof Error && Reflect.get(thrown, 'code') === '23505'

/** Whether a statement failed because it names a row that is not there, or ends one that is named. */
export const isReferred = (thrown: unknown) =>
  thrown instanceof Error && Reflect.get(thrown, 'code') === '23503'

/** Whether PostgreSQL refused what was in a statement, as it will again. */
export const isRefused = (thrown: unknown): boolean =>
  thrown instanceof Error && /^2[23]/.test(String(Reflect.get(thrown, 'code')))
