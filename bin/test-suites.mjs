// The commands of the launcher that run tests: what each is for is in CONTRIBUTING.md. Plain JavaScript for any
// Node from 18 on, as the launcher is.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'
import { prepareDashboard } from './dashboard-bundle.mjs'

/** Twice what the longest suite takes on two processors. */
const limitMs = Number(process.env.TEST_LIMIT_MINUTES ?? 40) * 60_000

/** For `measure`, which names them. */
const timing = '**/*.timing.test.ts'
/** What has a command of its own. */
const apart = `{tests/{faults/services,faults/hostile,dashboard,docs/installed}/**,${timing}}`
/** What only `test:deep` runs: faults, and programs that start and stop. */
const deep = 'tests/{faults,program}/**,**/*.deep.test.ts'
/** Files at a time: two more than there are processors, as each waits for clocks and processes now and then. */
const parallel = `--parallel=${os.cpus().length + 2}`
/** Of `faults`, whose files wait half of their time: for windows of a minute, renewals, nodes that start. */
const parallelFaults = `--parallel=${os.cpus().length + 4}`
/** Of `dashboard`: a page waits until its network is silent, and for little else. */
const parallelPages = `--parallel=${os.cpus().length + 1}`
const folders = ['bench', 'cli', 'connect', 'dashboard', 'deploy', 'server', 'tests']

/** Runs `work` beside the services that tests share; `environment` is set over theirs. */
async function withServices({ bun, root, environment }, work) {
  const services = await startServices(bun, root)
  try {
    Object.assign(process.env, services.environment, environment)
    return await work()
  } finally {
    await services.stop()
  }
}

/** By the names of commands. `run` runs a program to its end, `findBun` returns the path of our Bun. */
export function testSuites({ root, run, findBun }) {
  /** A machine that is busy is slow, not wrong. A test that never yields is named, and ends the run. */
  async function bunTest(args, environment = {}) {
    const timings = writeTimings(root)
    try {
      const order = `--timings=${join(timings, timingsName)}`
      const all = ['test', '--timeout', '60000', order, ...junitReporter(), ...args]
      const work = () => run(findBun(), all, { cwd: root, limitMs })
      return await withServices({ bun: findBun(), root, environment }, work)
    } finally {
      rmSync(timings, { recursive: true, force: true })
    }
  }

  /** With all that `npm test` samples. */
  const deepTest = (args) => bunTest(args, { TEST_DEEP: 'true' })
  const inRoot = (file, args) => run(findBun(), [join(root, file), ...args], { cwd: root })

  return {
    test: (args) => bunTest([parallel, ...unlessNamed(args), ...args]),
    // For `measure`: named files, with nothing beside them.
    timed: (args) => bunTest(['--parallel=1', ...args]),
    deep: (args) => {
      const files = args.some((arg) => !arg.startsWith('-')) ? [] : deepFiles(root)
      return deepTest([parallel, ignoring(apart), ...files, ...args])
    },
    faults: (args) => {
      process.env.TEST_EMBEDDED ??= 'true'
      return deepTest([parallelFaults, ignoring(timing), ...services(args)])
    },
    docs: (args) => bunTest([ignoring(timing), 'tests/docs/installed', ...args]),
    dashboard: async (args) => {
      const files = args.length > 0 ? args : ['tests/dashboard']
      const bundle = await prepareDashboard(root, findBun())
      if (!bundle) throw new Error('the dashboard could not be bundled for tests')
      const all = ['--timeout', '120000', parallelPages, ignoring(timing), ...files]
      return withBrowser(findBun(), root, (browser) =>
        bunTest(all, { TEST_DASHBOARD: bundle, TEST_BROWSER: browser }),
      )
    },
    simulation: ([name, ...rest]) =>
      name === 'scale'
        ? inRoot('server/simulation/scale/run.ts', rest)
        : inRoot('server/simulation/run.ts', name === undefined ? [] : [name, ...rest]),
    // An attack is measured: one file at a time, and nothing beside it.
    hostile: (args) => {
      process.env.TEST_EMBEDDED ??= 'true'
      process.env.TEST_DEEP = 'true'
      return inRoot('tests/faults/hostile/run.ts', args)
    },
    clients: (args) => run(findBun(), [join(root, 'tests/clients/run.ts'), ...args]),
    fuzz: (args) => {
      Object.assign(process.env, fuzzVariables(process.env))
      const suites = ['tests/faults/fuzz', 'server/src/upstream/http/hostile-answers.test.ts']
      return deepTest(['--timeout', '120000', ignoring(timing), ...suites, ...args])
    },
  }
}

/** Returns the variables of a fuzz run: a drawn seed and long runs, unless the environment sets others. */
function fuzzVariables(environment) {
  const drawn = String(Math.floor(Math.random() * 2 ** 31))
  const { FUZZ_SEED = drawn, FUZZ_RUNS = '500', FUZZ_SECONDS = '1800' } = environment
  const { HTTP_FUZZ_RUNS = '20000' } = environment
  return { FUZZ_SEED, FUZZ_RUNS, FUZZ_SECONDS, HTTP_FUZZ_RUNS }
}

/** Leaves out what has a command of its own, and what is deep unless paths name it. */
const unlessNamed = (args) => {
  const isNamed = args.some((arg) => /(^|\/)tests\/(faults|program)\//.test(arg))
  return [ignoring(isNamed ? `{${apart},**/*.deep.test.ts}` : `{${apart},${deep}}`)]
}

const ignoring = (pattern) => `--path-ignore-patterns=${pattern}`

/** Returns the arguments for a JUnit report at `TEST_JUNIT`, which CI sets, without its ending. */
function junitReporter() {
  const prefix = process.env.TEST_JUNIT
  return prefix ? ['--reporter=junit', `--reporter-outfile=${prefix}.xml`] : []
}

/** Names of suites among those that need services; all of them where none is named. */
function services(args) {
  const first = args.findIndex((arg) => arg.startsWith('-'))
  const names = first < 0 ? args : args.slice(0, first)
  const folder = 'tests/faults/services/'
  const suites = names.map((name) => (name.startsWith(folder) ? name : `${folder}${name}`))
  return [...(suites.length > 0 ? suites : ['tests/faults/services']), ...args.slice(names.length)]
}

/** What `npm test` leaves out, and what it only samples. */
function deepFiles(root) {
  return allTests(root).filter((path) => {
    if (/\.deep\.test\.ts$|^\.\/tests\/(faults|program)\//.test(path)) return true
    return /testing\/(property|depth)'/.test(readFileSync(join(root, path), 'utf8'))
  })
}

function allTests(root) {
  const tested = folders.filter((folder) => existsSync(join(root, folder)))
  return tested.flatMap((folder) => testsBelow(root, folder))
}

function testsBelow(root, folder) {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : testsBelow(root, path)
    return path.endsWith('.test.ts') ? [`./${path}`] : []
  })
}

const timingsName = 'timings.json'

/**
 * Writes how long each file takes, by which Bun starts the slowest first: none of them runs alone at the end. It needs a time
 * for each file; those that tests/slow-files.json does not list take a second or a few. Returns the folder.
 */
function writeTimings(root) {
  const seconds = JSON.parse(readFileSync(join(root, 'tests/slow-files.json'), 'utf8'))
  const paths = allTests(root).map((path) => path.replace('./', ''))
  const files = Object.fromEntries(paths.map((path) => [path, 1000 * (seconds[path] ?? 2)]))
  const folder = mkdtempSync(join(os.tmpdir(), 'tollgate-test-timings-'))
  writeFileSync(join(folder, timingsName), JSON.stringify({ version: 1, files }))
  return folder
}

/** Starts what all test files share; returns the variables by which they find it. */
async function startServices(bun, root) {
  const databases = startService(bun, root, ['server/testing/serve-databases.ts'])
  let gateways
  const stop = async () => {
    await gateways?.stop()
    await databases.stop()
  }
  try {
    const [socket, server] = await Promise.all([databases.address, bundleServer(bun, root)])
    if (server === '') throw new Error('the server could not be bundled for tests')
    gateways = startService(bun, root, ['server/testing/serve-gateways.ts', server])
    const environment = {
      TEST_DATABASES: socket,
      TEST_SERVER: server,
      TEST_GATEWAYS: await gateways.address,
    }
    return { environment, stop }
  } catch (thrown) {
    await stop()
    throw thrown
  }
}

/** Runs tests with the address of a browser that all files share. */
async function withBrowser(bun, root, runTests) {
  const browser = startService(bun, root, ['tests/dashboard/serve-browser.ts'])
  try {
    return await runTests(await browser.address)
  } finally {
    await browser.stop()
  }
}

/** Starts a service of all test files, which prints its address: one with the databases, one with the gateways. */
function startService(bun, root, [file, ...args]) {
  const name = file.replace(/^.*serve-|\.ts$/g, '')
  const child = spawn(bun, [join(root, file), ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const said = once(child.stdout, 'data').then(([bytes]) => String(bytes).trim())
  return {
    address: Promise.race([
      said,
      ended.then(() => Promise.reject(new Error(`what serves ${name} for tests did not start`))),
    ]),
    async stop() {
      child.stdin.end()
      await ended
    },
  }
}

/** Returns the path of the server as one program, which gateways of tests start from; empty where that failed. */
async function bundleServer(bun, root) {
  const child = spawn(bun, [join(root, 'server/testing/bundle-server.ts')], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  let output = ''
  child.stdout.on('data', (bytes) => (output += bytes))
  const [code] = await once(child, 'close')
  return code === 0 ? output.trim() : ''
}
