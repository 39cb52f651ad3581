// The steps of `tollgate check`, which run at the same time. Plain JavaScript for Node 18 and later, like the
// launcher.
import { spawn } from 'node:child_process'
import { totalmem } from 'node:os'

/** The steps, those that take longest first: a name and the command line, where `bun` is the bundled Bun. */
const steps = [
  // Rules and the errors of TypeScript from one program: tsc would build the same one again.
  ['types and lint', 'oxlint', '--type-aware', '--type-check', '--deny-warnings'],
  ['unused code', 'knip', '--cache'],
  ['openapi.json', 'bun', 'server/scripts/openapi.ts', '--check'],
  ['TypeScript client', 'bun', 'client/generate.ts', '--check'],
  [
    'layers, docstrings, fault table',
    'bun',
    'test',
    'server/src/layers.test.ts',
    'tests/fault-table.test.ts',
    'tests/docs/docstrings.test.ts',
  ],
  ['format', 'oxfmt', '--check'],
]

/**
 * Linter and compiler are written in Go, and spend a third of their time in garbage collection with Go's defaults: with this
 * they take more memory instead, up to half of what the machine has.
 */
const environment = {
  GOGC: '400',
  GOMEMLIMIT: `${Math.floor(totalmem() / 2)}B`,
  ...process.env,
}

/**
 * Runs all steps in `root` and prints the whole output of each, failures last; returns the exit code of the first
 * that failed. `commandOf` returns the path and the first arguments of a program.
 */
export async function runChecks(root, commandOf) {
  const results = await Promise.all(steps.map((step) => runStep(root, step, commandOf)))
  const failures = results.filter(({ code }) => code !== 0)
  for (const { name, seconds, output } of results.filter(({ code }) => code === 0)) {
    console.log(`${name}: passed in ${seconds} s\n${output}`)
  }
  for (const { name, typed, output } of failures) {
    console.log(output)
    console.error(`tollgate check: ${name} failed. By itself: ${typed}`)
  }
  return failures[0]?.code ?? 0
}

async function runStep(root, [name, program, ...args], commandOf) {
  const [command, before] = commandOf(program)
  const startedAt = performance.now()
  const child = spawn(command, [...before, ...args], {
    cwd: root,
    env: environment,
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const parts = []
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (part) => parts.push(part))
  const code = await new Promise((resolve, reject) => {
    child.once('error', reject)
    child.once('close', (exitCode) => resolve(exitCode ?? 1))
  })
  const seconds = ((performance.now() - startedAt) / 1000).toFixed(1)
  return { name, code, seconds, typed: typed(program, args), output: String(Buffer.concat(parts)) }
}

/** Returns the command that runs one check alone: neither the bundled Bun nor package binaries are on the PATH. */
function typed(program, args) {
  if (program !== 'bun') return ['npx', program, ...args].join(' ')
  const [first] = args
  return ['node', 'bin/tollgate.mjs', ...(first === 'test' ? args : ['run', ...args])].join(' ')
}
