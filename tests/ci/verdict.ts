import type { Failure } from './junit'

/** More files than this that fail by a time-out and pass alone are no accident. */
export const maxUnsteadyFiles = 3

/** Files of one stage by what their failures say of the product. */
export interface Sorted {
  /** Failures that no slow machine explains. */
  red: Failure[]
  /** Files whose failures are all time-outs: they run once more, alone. */
  toRerun: Map<string, Failure[]>
}

/**
 * Tells whether a slow machine can cause a failure: the runner's time-out, a wait that was given up, a port in use.
 * An `expect` that does not hold is never one: an assertion that fails once in a hundred runs is a bug.
 */
export function isTimeOut({ type, text }: Pick<Failure, 'type' | 'text'>): boolean {
  if (type === 'AssertionError') return false
  if (type === 'TimeoutError' || type === 'WaitTimeoutError') return true
  return /\bEADDRINUSE\b|\bWaitTimeoutError\b|port \d+ in use/i.test(text)
}

/**
 * Sorts failures by file. One that is not a time-out makes its file red, unless it only follows from one: where a
 * hook timed out, hooks after it miss what it would have made, and throw.
 */
export function sortFailures(failures: readonly Failure[]): Sorted {
  const sorted: Sorted = { red: [], toRerun: new Map() }
  for (const [file, all] of Map.groupBy(failures, ({ file }) => file)) {
    const first = all[0]
    const hasWrongExpect = all.some(({ type }) => type === 'AssertionError')
    const isExcused =
      all.every(isTimeOut) ||
      (first?.test.endsWith('(unnamed)') && isTimeOut(first) && !hasWrongExpect)
    if (isExcused) sorted.toRerun.set(file, all)
    else sorted.red.push(...all)
  }
  return sorted
}
