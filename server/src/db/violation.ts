/** Whether a statement failed because a unique value is taken. */
export const isTaken = (thrown: unknown) =>
  thrown instanceof Error && Reflect.get(thrown, 'code') === '23505'

/** Whether a statement failed because it names a row that is not there, or ends one that is named. */
export const isReferred = (thrown: unknown) =>
  thrown instanceof Error && Reflect.get(thrown, 'code') === '23503'
