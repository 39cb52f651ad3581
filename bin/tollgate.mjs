#!/usr/bin/env node
// The launcher: finds the Bun that npm installed and hands over to it. Plain JavaScript without
// dependencies, for any Node from 18 on. No install script has to have run.
import { spawn } from 'node:child_process'
import { accessSync, constants, existsSync, readFileSync, realpathSync } from 'node:fs'
import os from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { runChecks } from './checks.mjs'
import { findCommit, toBuildVersion } from './commit.mjs'
import { prepareDashboard } from './dashboard-bundle.mjs'
import { agentEnvironment, engineEnvironment, ignoredProxies } from './engine.mjs'
import { helpFor } from './help.mjs'
import { prepareServer } from './server-bundle.mjs'
import { testSuites } from './test-suites.mjs'

const bunVersion = '1.4.5'
const root = dirname(dirname(realpathSync(fileURLToPath(import.meta.url))))

/** A failure to launch, reported as one line without a stack. */
class LaunchError extends Error {
  exitCode = 1
}

/** An invalid command line: exit code 2, as of every command (docs/operate/cli.md). */
class UsageError extends LaunchError {
  exitCode = 2
}

const commands = {
  start,
  dev: (args) => run(findBun(), ['--watch', join(root, 'server/src/main.ts'), ...args]),
  ...Object.fromEntries(
    ['migrate', 'audit', 'backup', 'restore', 'rotate-keys', 'sign-in-link', 'doctor'].map(
      (name) => [
        name,
        (args) => run(findBun(), [join(root, `server/src/commands/${name}.ts`), ...args]),
      ],
    ),
  ),
  ...Object.fromEntries(
    ['users', 'keys', 'credits', 'models', 'connections'].map((name) => [
      name,
      (args) => run(findBun(), [join(root, 'cli/src/main.ts'), name, ...args]),
    ]),
  ),
  connect: (args) =>
    run(findBun(), [join(root, 'connect/src/main.ts'), ...args], {
      env: agentEnvironment(process.env),
    }),
  ...testSuites({ root, run, findBun }),
  measure: (args) => run(findBun(), [join(root, 'tests/measure/run.ts'), ...args], { cwd: root }),
  ci: (args) => run(findBun(), [join(root, 'tests/ci/run.ts'), ...args], { cwd: root }),
  check: () =>
    runChecks(root, (program) => (program === 'bun' ? [findBun(), []] : nodeTool(program))),
  run: (args) => run(findBun(), args, { cwd: root }),
  sbom: (args) => run(findBun(), [join(root, 'server/scripts/sbom.ts'), ...args]),
  build: (args) => run(findBun(), [join(root, 'deploy/executable/build.ts'), ...args]),
  bench: async (args) => {
    const [name = '', ...others] = args
    if (name === '--help' || name === '-h') return console.log(helpFor('sources'))
    const [file, rest] = name === '' || name.startsWith('-') ? ['compare', args] : [name, others]
    if (!existsSync(join(root, `bench/${file}.ts`))) {
      throw new UsageError(`There is no measurement "${file}". See tollgate --help.`)
    }
    const bun = findBun()
    // Gateways without a module before them run as `start` runs them.
    const env = { ...childEnvironment(), TEST_SERVER: await prepareServer(root, bun) }
    return run(bun, [join(root, `bench/${file}.ts`), ...rest], { cwd: root, env })
  },
}

/** Runs the server. Server and dashboard are bundled before, while the memory that it takes is free. */
async function start(args) {
  const bun = findBun()
  const env = childEnvironment()
  if (args.includes('--help') || args.includes('-h'))
    return run(bun, [join(root, 'server/src/main.ts'), ...args], { env })
  // One after the other, as either bundler takes a few hundred megabytes.
  const program = await prepareServer(root, bun)
  env.TOLLGATE_DASHBOARD = (await prepareDashboard(root, bun)) ?? ''
  return run(bun, [program, ...args], { env })
}

/** Returns the command line of an installed package's program, run by the current Node. */
function nodeTool(name) {
  const folder = findPackage(name)
  if (!folder) throw new LaunchError(`${name} is not installed. Run "npm ci".`)
  const { bin } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'))
  return [process.execPath, [join(folder, typeof bin === 'string' ? bin : bin[name])]]
}

/** Returns the path of the Bun to run. Throws LaunchError with instructions to install one. */
function findBun() {
  const chosen = process.env.TOLLGATE_BUN
  if (chosen) return runnable(chosen)
  const name = bunPackage()
  const folder = findPackage(name)
  const install = `npm install --no-save ${name}@${bunVersion}`
  if (folder) return runnable(join(folder, 'bin/bun'))
  if (name.endsWith('-baseline')) {
    throw new LaunchError(`This processor has no AVX2. Run "${install}", then try again.`)
  }
  throw new LaunchError(
    `${name} is not installed. Run "npm ci" without --omit=optional, or "${install}".`,
  )
}

function bunPackage() {
  const systems = { linux: 'linux', darwin: 'darwin' }
  const processors = { x64: 'x64', arm64: 'aarch64' }
  const system = systems[process.platform]
  const processor = processors[process.arch]
  if (!system || !processor) {
    throw new LaunchError(
      `Tollgate runs on Linux and macOS, x64 and arm64; this is ${process.platform}-${process.arch}. ` +
        'Use a container or WSL, or name a Bun in TOLLGATE_BUN.',
    )
  }
  const libc = system === 'linux' && isMusl() ? '-musl' : ''
  const baseline = system === 'linux' && processor === 'x64' && !hasAvx2() ? '-baseline' : ''
  return `@oven/bun-${system}-${processor}${libc}${baseline}`
}

/** Detects musl: Node's report names the glibc version, and none on musl. */
function isMusl() {
  return !process.report?.getReport().header.glibcVersionRuntime
}

/** Detects AVX2; assumes it where the processor's flags cannot be read. */
function hasAvx2() {
  try {
    const flags = /^flags\s*:(.*)$/m.exec(readFileSync(cpuinfoPath(), 'utf8'))?.[1]
    return flags === undefined || flags.split(' ').includes('avx2')
  } catch {
    return true
  }
}

/** Returns the path of cpuinfo, which tests override, as AVX2 cannot be removed from a processor. */
function cpuinfoPath() {
  return process.env.TOLLGATE_CPUINFO ?? '/proc/cpuinfo'
}

/** Finds the folder of an installed package, nearest first: npm may have hoisted it to a parent. */
function findPackage(name) {
  for (let folder = root; ; folder = dirname(folder)) {
    const candidate = join(folder, 'node_modules', name)
    if (existsSync(join(candidate, 'package.json'))) return candidate
    if (folder === dirname(folder)) return undefined
  }
}

function runnable(path) {
  if (!existsSync(path)) throw new LaunchError(`There is no Bun at ${path}.`)
  try {
    accessSync(path, constants.X_OK)
  } catch {
    throw new LaunchError(`${path} is not executable. Run "chmod +x ${path}".`)
  }
  return path
}

let hasWarned = false

function childEnvironment() {
  const { environment, ignored } = engineEnvironment(process.env)
  environment.TOLLGATE_NODE = process.versions.node
  environment.TOLLGATE_IGNORED = ignored.join(', ')
  const commit = findCommit(root)
  if (commit !== undefined) environment.TOLLGATE_COMMIT = commit
  if (ignored.length > 0 && !hasWarned) {
    hasWarned = true
    console.error(ignoredProxies(ignored))
  }
  return environment
}

/**
 * Runs a program to its end and returns its exit code, 128 + n after signal n. Signals are forwarded to the
 * child, and the launcher stays until it has exited, as it may be finishing requests.
 */
function run(command, args, { cwd = process.cwd(), env = childEnvironment(), limitMs } = {}) {
  return new Promise((resolve, reject) => {
    const TOLLGATE_LAUNCHER_PID = String(process.pid)
    const child = spawn(command, args, {
      cwd,
      stdio: 'inherit',
      env: { ...env, TOLLGATE_LAUNCHER_PID },
    })
    const stopForwarding = forwardSignals(child)
    const limit = limitMs && setTimeout(() => stopLate(child, limitMs), limitMs)
    child.once('exit', () => clearTimeout(limit))
    child.once('error', (cause) => {
      stopForwarding()
      reject(new LaunchError(`${command} cannot be run: ${cause.message}.`))
    })
    child.once('exit', (code, signal) => {
      stopForwarding()
      resolve(signal ? 128 + os.constants.signals[signal] : code)
    })
  })
}

/** Stops a run at its time limit: Bun names the files that still run on SIGTERM; if it does not exit, SIGKILL. */
function stopLate(child, limitMs) {
  console.error(`tollgate: stopped after ${limitMs / 60_000} minutes.`)
  child.kill('SIGTERM')
  setTimeout(() => child.kill('SIGKILL'), 10_000).unref()
}

/**
 * Forwards signals to the child. Ctrl-C goes from the terminal to the whole group, so the child has its SIGINT
 * already, and a copy follows. The two cases look alike here; a lost signal would be a server that never stops,
 * while a repeated one is harmless: main.ts treats SIGINTs within a second as one. npm forwards too, so a
 * signal that arrives twice within a second is forwarded once.
 */
function forwardSignals(child) {
  const forwarders = ['SIGINT', 'SIGTERM', 'SIGHUP', 'SIGUSR2'].map((signal) => {
    let lastAt = -Infinity
    const forward = () => {
      const now = performance.now()
      if (now - lastAt > 1000) child.kill(signal)
      lastAt = now
    }
    process.on(signal, forward)
    return () => process.off(signal, forward)
  })
  return () => forwarders.forEach((stop) => stop())
}

async function main([name = 'start', ...args]) {
  if (isStartOption(name)) return main(['start', name, ...args])
  if (name === '--help' || name === '-h') return console.log(helpFor('sources'))
  if (name === '--version' || name === '-v') {
    const { version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
    return console.log(toBuildVersion(version, findCommit(root)))
  }
  if (!Object.hasOwn(commands, name)) {
    throw new UsageError(`There is no command "${name}". See tollgate --help.`)
  }
  process.exitCode = await commands[name](args)
}

/** Whether the command is left out, and options of `start` come first. */
function isStartOption(name) {
  return name.startsWith('-') && !['--help', '-h', '--version', '-v'].includes(name)
}

// The reader of a pipe may close it early, as `head` does: the rest has no reader.
process.stdout.on('error', (error) => {
  if (error.code === 'EPIPE') return
  console.error(`tollgate: The output could not be written: ${error.message}.`)
  process.exit(1)
})
main(process.argv.slice(2)).catch((thrown) => {
  const isKnown = thrown instanceof LaunchError
  console.error(isKnown ? `tollgate: ${thrown.message}` : thrown)
  process.exitCode = isKnown ? thrown.exitCode : 1
})
