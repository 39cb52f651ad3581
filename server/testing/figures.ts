import { appendFileSync } from 'node:fs'

/** The bound of a figure; at least one of the two. */
export interface FigureBound {
  atMost?: number
  atLeast?: number
}

/** A figure as `npm run measure` reads it: a line of JSON in the file that `TEST_FIGURES` names. */
export interface Figure extends FigureBound {
  /** The test file, from the root of the repository. */
  file: string
  name: string
  unit: string
  value: number
}

/**
 * Records a time, rate or memory that a test measured, with its bound. It never fails the test: what decides on landing
 * holds states only, and `npm run measure` judges figures, again and again on a machine whose speed it knows.
 *
 * @param unit of value and bound: `ms`, `MB`, `requests/s`, `%`.
 */
export function recordFigure(
  name: string,
  value: number,
  { unit, ...bound }: FigureBound & { unit: string },
): void {
  const path = process.env['TEST_FIGURES']
  if (!path) return
  const file = Bun.main.replace(`${process.cwd()}/`, '')
  appendFileSync(
    path,
    `${JSON.stringify({ file, name, unit, value, ...bound } satisfies Figure)}\n`,
  )
}

/**
 * Awaits `work`, and records how long it took. Resolves with its result and never with the time, so that a test that
 * awaits a state cannot bound it.
 */
export async function recordTimeFigure<Result>(
  name: string,
  bound: FigureBound,
  work: () => Promise<Result>,
): Promise<Result> {
  const startedAtMs = performance.now()
  const result = await work()
  recordFigure(name, performance.now() - startedAtMs, { unit: 'ms', ...bound })
  return result
}
