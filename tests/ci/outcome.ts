import type { Failure, FileResult } from './junit'
import type { StageRun } from './run-stage'
import { maxUnsteadyFiles, sortFailures } from './verdict'

/** A stage after its time-outs ran once more. */
export interface StageOutcome {
  run: StageRun
  /** Failures that count. */
  red: Failure[]
  problems: string[]
  /** Files that failed by a time-out and passed alone, with what timed out. */
  unsteady: Map<string, Failure[]>
}

/** The outcome of all stages. */
export interface Outcome {
  stages: StageOutcome[]
  /** Sums over all stages; an unsteady file's tests have passed. */
  passed: number
  failed: number
  isGreen: boolean
  slowest: FileResult[]
}

/** A larger number of files is not run again: that many time-outs are no accident. */
export const maxReruns = 10

/** Returns the files of a stage to run again, alone. */
export function filesToRerun(runs: readonly StageRun[]): { run: StageRun; file: string }[] {
  const files = runs.flatMap((run) =>
    [...sortFailures(run.report.failures).toRerun.keys()].map((file) => ({ run, file })),
  )
  return files.length > maxReruns ? [] : files
}

/**
 * Judges all stages.
 *
 * @param passedAlone the files, by stage, that passed when they ran once more.
 */
export function judge(
  runs: readonly StageRun[],
  passedAlone: ReadonlyMap<StageRun, ReadonlySet<string>>,
): Outcome {
  const stages = runs.map((run) => judgeStage(run, passedAlone.get(run) ?? new Set()))
  const unsteady = stages.reduce((sum, stage) => sum + stage.unsteady.size, 0)
  const failed = stages.reduce((sum, { red, problems }) => sum + red.length + problems.length, 0)
  const excess = unsteady > maxUnsteadyFiles ? unsteady : 0
  return {
    stages,
    passed: stages.reduce((sum, stage) => sum + countPassed(stage), 0) - excess,
    failed: failed + excess,
    isGreen: failed + excess === 0,
    slowest: runs
      .flatMap(({ report }) => report.files)
      .toSorted((one, other) => other.seconds - one.seconds)
      .slice(0, 10),
  }
}

function judgeStage(run: StageRun, passedAlone: ReadonlySet<string>): StageOutcome {
  const { red, toRerun } = sortFailures(run.report.failures)
  const unsteady = new Map<string, Failure[]>()
  for (const [file, failures] of toRerun) {
    if (passedAlone.has(file)) unsteady.set(file, failures)
    else red.push(...failures)
  }
  return { run, red, problems: run.problems, unsteady }
}

/** Counts the tests that passed; a stage without tests is one. */
function countPassed({ run, unsteady, problems }: StageOutcome): number {
  if (!run.stage.hasTests) return problems.length === 0 ? 1 : 0
  const inUnsteady = [...unsteady.values()].reduce((sum, failures) => sum + failures.length, 0)
  return run.report.passed + inUnsteady
}
