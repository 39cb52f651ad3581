// `npm run ci`: what decides on landing. Runs all stages, also after a red one; then files that timed out once more,
// alone. Progress goes to standard error, one report to standard output and to dist/ci/report.md. With names of stages,
// `npm run ci check docs`, it runs only those.
import { execFileSync } from 'node:child_process'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { filesToRerun, judge } from './outcome'
import { writeReport } from './report'
import { runStage, type StageRun } from './run-stage'
import { runScheduled } from './schedule'
import { stages, type Stage } from './stages'

const root = join(import.meta.dir, '../..')
const folder = join(root, 'dist/ci')
/** Stages that run beside each other: two mostly wait for different things. */
const width = 2

function chooseStages(names: readonly string[]): readonly Stage[] {
  const unknown = names.filter((name) => !stages.some((stage) => stage.name === name))
  if (unknown.length > 0) {
    const known = stages.map(({ name }) => name).join(', ')
    throw new Error(`there is no stage ${unknown.join(', ')}; there are ${known}`)
  }
  return names.length === 0 ? stages : stages.filter(({ name }) => names.includes(name))
}

const startedAtMs = performance.now()
const seconds = () => (performance.now() - startedAtMs) / 1000
const note = (text: string) => console.error(`${seconds().toFixed(0).padStart(5)} s  ${text}`)

async function runNoted(stage: Stage): Promise<StageRun> {
  note(`${stage.name} starts`)
  const run = await runStage(stage, { root, folder })
  const { passed, failed } = run.report
  const found = stage.hasTests ? `: ${passed} passed, ${failed} failed` : ''
  note(`${stage.name} ended after ${run.seconds.toFixed(0)} s${found}`)
  for (const problem of run.problems) note(`${stage.name}: ${problem}`)
  return run
}

/** Runs files that timed out once more, one after the other; returns those that passed. */
async function rerun(runs: readonly StageRun[]): Promise<Map<StageRun, Set<string>>> {
  const passed = new Map<StageRun, Set<string>>()
  for (const { run, file } of filesToRerun(runs)) {
    note(`${run.stage.name}: ${file} timed out: once more, alone`)
    const { report, problems } = await runStage(run.stage, { root, folder, file })
    const isPassed = report.failed === 0 && problems.length === 0
    note(`${run.stage.name}: ${file} ${isPassed ? 'passed' : 'failed again'}`)
    if (isPassed) passed.set(run, (passed.get(run) ?? new Set()).add(file))
  }
  return passed
}

const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], {
  cwd: root,
  encoding: 'utf8',
})
await mkdir(folder, { recursive: true })
const runs = await runScheduled(chooseStages(process.argv.slice(2)), width, runNoted)
const outcome = judge(runs, await rerun(runs))
const report = writeReport(outcome, { commit: commit.trim(), seconds: seconds(), logs: 'dist/ci' })
await writeFile(join(folder, 'report.md'), `${report}\n`)
console.log(report)
process.exitCode = outcome.isGreen ? 0 : 1
