import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { emptyReport, findUnloaded, parseReport, sumReports, type Report } from './junit'
import { machineUse, readMachine, type MachineUse } from './machine'
import { findMissing } from './needs'
import type { Stage } from './stages'

/** The result of one run of a stage, or of a file of it. */
export interface StageRun {
  stage: Stage
  seconds: number
  use: MachineUse
  report: Report
  /** Why the run is red beside its failures: it did not end, ran no test, or failed without naming one. */
  problems: string[]
  /** The last lines of its output. */
  tail: string
}

export interface RunOptions {
  root: string
  /** The folder of logs and reports. */
  folder: string
  /** One file to run in place of the whole stage. */
  file?: string
}

/** How long a process has after SIGTERM, in which Bun names the files that still run. */
const endingMs = 15_000
const tailLines = 15

/** Runs a stage to its end or its limit; never throws for what the stage does. */
export async function runStage(stage: Stage, options: RunOptions): Promise<StageRun> {
  const before = await readMachine()
  const ended = await runScript(stage, options)
  const after = await readMachine()
  const output = await readFile(ended.logPath, 'utf8').catch(() => '')
  const report = stage.hasTests
    ? await readReport(ended.reports, output, options.root)
    : emptyReport()
  return {
    stage,
    seconds: (after.atMs - before.atMs) / 1000,
    use: machineUse(before, after),
    report,
    problems: findProblems(stage, ended, report),
    tail: output.trimEnd().split('\n').slice(-tailLines).join('\n'),
  }
}

interface Ended {
  /** The exit code; `undefined` where the stage did not end, or could not start. */
  code?: number
  missing: string[]
  logPath: string
  /** The folder of its JUnit reports. */
  reports: string
}

async function runScript(stage: Stage, { root, folder, file }: RunOptions): Promise<Ended> {
  const name = (file ? `${stage.name} ${file}` : stage.name).replace(/[^\w.]+/g, '-')
  const logPath = join(folder, `${name}.log`)
  const reports = join(folder, name)
  const missing = findMissing(stage.needs ?? [])
  if (missing.length > 0) return { missing, logPath, reports }
  await rm(reports, { recursive: true, force: true })
  await mkdir(reports, { recursive: true })
  const args = file ? [file] : (stage.args ?? [])
  const log = createWriteStream(logPath)
  await once(log, 'open')
  const child = spawn('npm', ['run', stage.script, '--', ...args], {
    cwd: root,
    // A group of its own, so that what the stage leaves behind ends with it.
    detached: true,
    env: { ...process.env, ...stage.environment, TEST_JUNIT: join(reports, 'report') },
    stdio: ['ignore', log, log],
  })
  const exit: Promise<unknown[]> = once(child, 'exit')
  const limit = setTimeout(() => endGroup(child.pid, 'SIGTERM'), stage.limitMinutes * 60_000)
  const killing = setTimeout(
    () => endGroup(child.pid, 'SIGKILL'),
    stage.limitMinutes * 60_000 + endingMs,
  )
  try {
    const [code] = await exit
    return { ...(typeof code === 'number' && { code }), missing, logPath, reports }
  } finally {
    clearTimeout(limit)
    clearTimeout(killing)
    endGroup(child.pid, 'SIGKILL')
    log.end()
  }
}

function endGroup(pid: number | undefined, signal: NodeJS.Signals): void {
  if (pid === undefined) return
  try {
    process.kill(-pid, signal)
  } catch {
    // The group has ended by itself.
  }
}

async function readReport(folder: string, output: string, root: string): Promise<Report> {
  const names = await readdir(folder).catch(() => [])
  const reports = await Promise.all(
    names.map(async (name) => parseReport(await readFile(join(folder, name), 'utf8'))),
  )
  const unloaded = findUnloaded(output, root)
  return sumReports([...reports, { ...emptyReport(), failed: unloaded.length, failures: unloaded }])
}

function findProblems(stage: Stage, { code, missing }: Ended, report: Report): string[] {
  if (missing.length > 0) return [`this machine lacks ${missing.join(', ')}`]
  if (code === undefined) return [`it did not end within ${stage.limitMinutes} minutes`]
  if (code !== 0 && report.failed === 0) return [`exit code ${code}, and no test is named`]
  if (stage.hasTests && report.passed + report.failed === 0) return ['it ran no test']
  return []
}
