import { emptyReport, type Failure, type Report } from './junit'
import type { StageRun } from './run-stage'
import type { Stage } from './stages'

/** Makes a stage with the fields that matter. */
export const stageOf = (fields: Partial<Stage> = {}): Stage => ({
  name: 'test',
  script: 'test',
  hasTests: true,
  limitMinutes: 1,
  ...fields,
})

/** A failure of an `expect`, unless its type says otherwise. */
export const failureOf = (fields: Partial<Failure> = {}): Failure => ({
  file: 'tests/a.test.ts',
  test: 'books once',
  type: 'AssertionError',
  text: 'AssertionError: expect(received).toBe(expected)',
  ...fields,
})

/** A run of a stage with these failures and a hundred tests that passed. */
export function runOf(failures: readonly Failure[], fields: Partial<StageRun> = {}): StageRun {
  const report: Report = {
    ...emptyReport(),
    passed: 100,
    failed: failures.length,
    failures: [...failures],
    files: [{ file: 'tests/a.test.ts', seconds: 7 }],
  }
  return {
    stage: stageOf(),
    seconds: 60,
    use: { load: 2 },
    report,
    problems: [],
    tail: '',
    ...fields,
  }
}
