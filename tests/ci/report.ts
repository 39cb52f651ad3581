import type { Failure } from './junit'
import type { Outcome, StageOutcome } from './outcome'
import { maxUnsteadyFiles } from './verdict'

export const maxReportLines = 60
const maxLineLength = 200
/** Lines of one failure below its name. */
const maxFailureLines = 12

/**
 * Writes the report: at most 60 lines of markdown, of which the last but one ends in `N passed, N failed`. Failures share
 * the lines that the rest leaves them.
 *
 * @param seconds of the whole run.
 * @param logs the folder with the whole output of each stage, as the report names it.
 */
export function writeReport(
  outcome: Outcome,
  { commit, seconds, logs }: { commit: string; seconds: number; logs: string },
): string {
  const head = [
    `# CI: ${outcome.isGreen ? 'green' : 'RED'} after ${minutes(seconds)}, commit ${commit}`,
    '',
    '| stage | result | time | passed | failed | skipped | unsteady | load | busy | steal |',
    '|---|---|---|---|---|---|---|---|---|---|',
    ...outcome.stages.map(stageLine),
  ]
  const closing = [
    ...unsteadyLines(outcome),
    ...slowestLines(outcome),
    '',
    `${outcome.passed} passed, ${outcome.failed} failed`,
  ]
  const room = maxReportLines - head.length - closing.length
  const lines = [...head, ...redLines(outcome, room, logs), ...closing]
  return lines.map((line) => line.slice(0, maxLineLength)).join('\n')
}

const minutes = (seconds: number) => `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`

const percent = (share?: number) => (share === undefined ? '' : `${share.toFixed(0)} %`)

function stageLine({ run, red, problems, unsteady }: StageOutcome): string {
  const { stage, report, use } = run
  const cells = [
    stage.name,
    red.length + problems.length > 0 ? '**red**' : 'green',
    `${run.seconds.toFixed(0)} s`,
    stage.hasTests ? report.passed : '',
    stage.hasTests ? red.length : '',
    stage.hasTests ? report.skipped : '',
    stage.hasTests ? unsteady.size : '',
    use.load.toFixed(1),
    percent(use.busyPercent),
    percent(use.stolenPercent),
  ]
  return `| ${cells.join(' | ')} |`
}

/** A red entry: a line that names it, and what it says. */
interface Red {
  title: string
  details: string[]
}

function findRed({ run, red, problems }: StageOutcome): Red[] {
  return [
    ...problems.map((problem) => ({
      title: `(fail) ${run.stage.name}: ${problem}; its last lines:`,
      details: run.tail.split('\n'),
    })),
    ...red.map((failure) => ({
      title: `(fail) ${run.stage.name}: ${failure.file}: ${failure.test}`,
      details: detailsOf(failure),
    })),
  ]
}

const detailsOf = ({ type, text }: Failure): string[] => {
  const lines = text.split('\n').filter((line) => line.trim() !== '')
  return lines.length > 0 ? lines : [type]
}

function redLines(outcome: Outcome, room: number, logs: string): string[] {
  const all = outcome.stages.flatMap(findRed)
  if (all.length === 0) return []
  const start = ['', `## Red (whole output: ${logs})`, '']
  const left = room - start.length
  // A stage that is wholly red must not hide the one test of another.
  const shown = all.length > left ? inTurns(outcome.stages.map(findRed)).slice(0, left - 1) : all
  const hidden = all.length - shown.length
  const each = Math.min(
    maxFailureLines,
    Math.floor((left - (hidden > 0 ? 1 : 0)) / shown.length) - 1,
  )
  return [
    ...start,
    ...shown.flatMap(({ title, details }) => [
      title,
      ...details.slice(0, Math.max(0, each)).map((line) => `    ${line}`),
    ]),
    ...(hidden > 0 ? [`… and ${hidden} more`] : []),
  ]
}

/** Takes the first of each list, then the second of each. */
function inTurns<Item>(lists: readonly Item[][]): Item[] {
  const longest = Math.max(0, ...lists.map((list) => list.length))
  return Array.from({ length: longest }, (_, at) =>
    lists.flatMap((list) => list.slice(at, at + 1)),
  ).flat()
}

function unsteadyLines({ stages }: Outcome): string[] {
  const files = stages.flatMap(({ run, unsteady }) =>
    [...unsteady].map(([file, [failure]]) => {
      const reason = failure?.type === 'TimeoutError' ? 'timed out' : failure?.text.split('\n')[0]
      return `- ${run.stage.name}: ${file}: ${failure?.test}: ${reason}`
    }),
  )
  if (files.length === 0) return []
  const excess = files.length > maxUnsteadyFiles ? `: more than ${maxUnsteadyFiles} are red` : ''
  return ['', `## Unsteady: timed out, passed alone${excess}`, '', ...files]
}

function slowestLines({ slowest }: Outcome): string[] {
  if (slowest.length === 0) return []
  const files = slowest.map(({ file, seconds }) => `${file} ${seconds.toFixed(0)} s`)
  // Two a line leave room for failures.
  const pairs = Array.from({ length: Math.ceil(files.length / 2) }, (_, at) =>
    files.slice(2 * at, 2 * at + 2),
  )
  return ['', '## Slowest files', '', ...pairs.map((pair) => `- ${pair.join(', ')}`)]
}
