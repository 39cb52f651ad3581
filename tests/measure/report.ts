import { describeCalibration, isSteady, type Calibration } from './calibration'
import { judge, type Attempts, type Verdict } from './verdict'

/** A source after its attempts. */
export interface Measured {
  name: string
  seconds: number
  attempts: readonly Attempts[]
  /** Before the first attempt and after each. */
  calibrations: readonly Calibration[]
  /** Why a command failed beside its figures. */
  problems: readonly string[]
}

/** The verdicts of all figures; a problem is a broken one. */
export function countVerdicts(all: readonly Measured[]): Record<Verdict, number> {
  const counts = { held: 0, broken: 0, inconclusive: 0 }
  for (const { attempts, calibrations, problems } of all) {
    const isMachineSteady = isSteady(calibrations)
    for (const each of attempts) counts[judge(each, isMachineSteady)] += 1
    counts.broken += problems.length
    if (attempts.length === 0 && problems.length === 0) counts.held += 1
  }
  return counts
}

const order: Readonly<Record<Verdict, number>> = { broken: 0, inconclusive: 1, held: 2 }

/** Writes the report in markdown: per source the machine and a table, what is broken first. */
export function writeReport(all: readonly Measured[], commit: string): string {
  const { held, broken, inconclusive } = countVerdicts(all)
  const sections = all.flatMap(sectionOf)
  return [
    `# Measurements of commit ${commit}`,
    ...sections,
    '',
    `${held} held, ${broken} broken, ${inconclusive} inconclusive`,
  ].join('\n')
}

function sectionOf({ name, seconds, attempts, calibrations, problems }: Measured): string[] {
  const isMachineSteady = isSteady(calibrations)
  const [first, last] = [calibrations[0], calibrations.at(-1)]
  const rows = attempts
    .map((each) => ({ ...each, verdict: judge(each, isMachineSteady) }))
    .toSorted((one, other) => order[one.verdict] - order[other.verdict])
  return [
    '',
    `## ${name}, ${seconds.toFixed(0)} s`,
    '',
    ...(first && last
      ? [
          `Machine ${isMachineSteady ? 'steady' : 'changed'}: ${describeCalibration(first)}; then ${describeCalibration(last)}`,
        ]
      : []),
    ...problems.map((problem) => `**broken**: ${problem}`),
    ...(rows.length > 0
      ? ['', '| figure | bound | measured | verdict |', '|---|---|---|---|']
      : []),
    ...rows.map(
      ({ figure, values, verdict }) =>
        `| ${figure.name.replaceAll('|', '\\|')} | ${boundOf(figure)} | ${values.map(format).join(', ')} ${figure.unit} | ${verdict === 'held' ? verdict : `**${verdict}**`} |`,
    ),
  ]
}

const format = (value: number) => (Math.abs(value) < 10 ? value.toFixed(2) : value.toFixed(0))

const boundOf = ({ atMost, atLeast }: Attempts['figure']) =>
  [
    ...(atLeast === undefined ? [] : [`≥ ${format(atLeast)}`]),
    ...(atMost === undefined ? [] : [`≤ ${format(atMost)}`]),
  ].join(' ')
