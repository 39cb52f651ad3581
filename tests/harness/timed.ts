import { test } from 'bun:test'

/**
 * For tests that promise a bound on wall-clock time: it must hold in one of three runs. A busy machine
 * is slow, not wrong; what is wrong is so each time.
 */
export const retryOptions = { retry: 2 }

export const timedTest = (name: string, promise: () => Promise<void>) =>
  test(name, promise, retryOptions)
