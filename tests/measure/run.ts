// `npm run measure`: every bound on time, rate, memory and CPU. Each figure is measured up to five times, with the
// machine's own speed beside it: held, broken or inconclusive. The report is dist/measure/report.md. With names,
// `npm run measure gate fairness`, it measures only those; a path of a test file measures that file.
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { Figure } from '../../server/testing/figures'
import { calibrate, type Calibration } from './calibration'
import { countVerdicts, writeReport, type Measured } from './report'
import { findSources, sourcesOf, type Source } from './sources'
import { addAttempt, isDecided, maxAttempts, type Attempts } from './verdict'

const root = join(import.meta.dir, '../..')
const folder = join(root, 'dist/measure')
const startedAtMs = performance.now()
const note = (text: string) =>
  console.error(`${((performance.now() - startedAtMs) / 1000).toFixed(0).padStart(5)} s  ${text}`)

async function chooseSources(names: readonly string[]): Promise<Source[]> {
  const files = names.filter((name) => name.endsWith('.test.ts'))
  const words = names.filter((name) => !files.includes(name))
  const all = await findSources(root)
  const unknown = words.filter((word) => !all.some(({ name }) => name === word))
  if (unknown.length > 0) {
    throw new Error(
      `there is no measurement ${unknown.join(', ')}; there are ${all.map(({ name }) => name).join(', ')}`,
    )
  }
  if (names.length === 0) return all
  return [...all.filter(({ name }) => words.includes(name)), ...sourcesOf(files)]
}

/** Runs a command once; resolves with its exit code and the figures it recorded. */
async function attempt(
  source: Source,
  number: number,
): Promise<{ code: number; figures: Figure[] }> {
  const figuresPath = join(folder, `${source.name}.jsonl`)
  await rm(figuresPath, { force: true })
  const log = createWriteStream(join(folder, `${source.name}-${number}.log`))
  await once(log, 'open')
  const child = spawn('npm', ['run', source.script, '--', ...(source.files ?? source.args ?? [])], {
    cwd: root,
    env: { ...process.env, ...source.environment, TEST_FIGURES: figuresPath },
    stdio: ['ignore', log, log],
    timeout: source.limitMinutes * 60_000,
  })
  const [code] = await once(child, 'exit')
  log.end()
  const text = await readFile(figuresPath, 'utf8').catch(() => '')
  const lines = text.split('\n').filter((line) => line !== '')
  return {
    code: typeof code === 'number' ? code : 1,
    figures: lines.map((line): Figure => JSON.parse(line)),
  }
}

/** Narrows a source to the files whose figures are not decided; a command without files runs whole. */
function undecidedPart(
  source: Source,
  attempts: ReadonlyMap<string, Attempts>,
): Source | undefined {
  const files = new Set(
    [...attempts.values()].filter((each) => !isDecided(each)).map(({ figure }) => figure.file),
  )
  if (files.size === 0) return undefined
  return source.files ? { ...source, files: [...files] } : source
}

async function measureSource(source: Source): Promise<Measured> {
  const beganAtMs = performance.now()
  const attempts = new Map<string, Attempts>()
  const calibrations: Calibration[] = [await calibrate()]
  const problems: string[] = []
  let part: Source | undefined = source
  for (let number = 1; part && number <= maxAttempts; number++) {
    note(`${source.name}, attempt ${number}`)
    const { code, figures } = await attempt(part, number)
    calibrations.push(await calibrate())
    addAttempt(attempts, figures)
    if (code !== 0 && (number === 1 || figures.length === 0)) {
      problems.push(
        `exit code ${code} of attempt ${number}: see dist/measure/${source.name}-${number}.log`,
      )
      if (figures.length === 0) break
    }
    part = undecidedPart(source, attempts)
  }
  const seconds = (performance.now() - beganAtMs) / 1000
  return { name: source.name, seconds, attempts: [...attempts.values()], calibrations, problems }
}

const commit = execFileSync('git', ['rev-parse', '--short', 'HEAD'], {
  cwd: root,
  encoding: 'utf8',
})
await mkdir(folder, { recursive: true })
const measured: Measured[] = []
for (const source of await chooseSources(process.argv.slice(2)))
  measured.push(await measureSource(source))
const report = writeReport(measured, commit.trim())
await writeFile(join(folder, 'report.md'), `${report}\n`)
console.log(report)
process.exitCode = countVerdicts(measured).broken > 0 ? 1 : 0
