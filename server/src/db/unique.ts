/** Whether a statement failed because a unique value is taken. */
export const isTaken = (thrown: unknown) =>
  thrown instanceof Error && Reflect.get(thrown, 'code') === '23505'
