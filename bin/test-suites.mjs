// The commands of the launcher that run tests: what each is for is in CONTRIBUTING.md. Plain JavaScript for any
// Node from 18 on, as the launcher is.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'

/** Twice what the longest suite takes on two processors. */
const limitMs = Number(process.env.TEST_LIMIT_MINUTES ?? 40) * 60_000

/** What has a command of its own; `*.timing.test.ts` is for `measure`. */
const apart =
  '{tests/{faults/services,faults/hostile,dashboard,docs/installed}/**,**/*.timing.test.ts}'
/** What only `test:deep` runs: faults, and programs that start and stop. */
const deep = 'tests/{faults,program}/**,**/*.deep.test.ts'
const parallel = `--parallel=${os.cpus().length + 2}`
const folders = ['bench', 'cli', 'connect', 'dashboard', 'deploy', 'server', 'tests']

/** By the names of commands. `run` runs a program to its end, `findBun` returns the path of our Bun. */
export function testSuites({ root, run, findBun }) {
  /** A machine that is busy is slow, not wrong. A test that never yields is named, and ends the run. */
  async function bunTest(args) {
    const services = await startServices(findBun(), root)
    try {
      Object.assign(process.env, services.environment)
      const all = ['test', '--timeout', '60000', ...junitReporter(), ...args]
      return await run(findBun(), all, { cwd: root, limitMs })
    } finally {
      await services.stop()
    }
  }

  /** With all that `npm test` samples. */
  function deepTest(args) {
    process.env.TEST_DEEP = 'true'
    return bunTest(args)
  }

  const inRoot = (file, args) => run(findBun(), [join(root, file), ...args], { cwd: root })

  return {
    // Two files more at a time than there are processors, as each waits for clocks and processes now and then.
    test: (args) => bunTest([parallel, ...unlessNamed(args), ...args]),
    // For `measure`: named files, with nothing beside them.
    timed: (args) => bunTest(['--parallel=1', ...args]),
    deep: (args) => {
      const files = args.some((arg) => !arg.startsWith('-')) ? [] : deepFiles(root)
      return deepTest([parallel, ignoring(apart), ...files, ...args])
    },
    faults: (args) => {
      process.env.TEST_EMBEDDED ??= 'true'
      return deepTest([parallel, ...services(args)])
    },
    docs: (args) => bunTest(['tests/docs/installed', ...args]),
    // Each file starts a gateway and a browser before its first test.
    dashboard: (args) => {
      const files = args.length > 0 ? args : ['tests/dashboard']
      return bunTest(['--timeout', '120000', '--parallel', ...files])
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
      return deepTest(['--timeout', '120000', ...suites, ...args])
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
  const tested = folders.filter((folder) => existsSync(join(root, folder)))
  const paths = tested.flatMap((folder) => testsBelow(root, folder))
  return paths.filter((path) => {
    if (/\.deep\.test\.ts$|^\.\/tests\/(faults|program)\//.test(path)) return true
    return /testing\/(property|depth)'/.test(readFileSync(join(root, path), 'utf8'))
  })
}

function testsBelow(root, folder) {
  return readdirSync(join(root, folder), { withFileTypes: true }).flatMap((entry) => {
    const path = `${folder}/${entry.name}`
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : testsBelow(root, path)
    return path.endsWith('.test.ts') ? [`./${path}`] : []
  })
}

/** Starts what all test files share; returns the variables by which they find it. */
async function startServices(bun, root) {
  const databases = startService(bun, root, ['serve-databases.ts'])
  let gateways
  const stop = async () => {
    await gateways?.stop()
    await databases.stop()
  }
  try {
    const [socket, server] = await Promise.all([databases.socket, bundleServer(bun, root)])
    if (server === '') throw new Error('the server could not be bundled for tests')
    gateways = startService(bun, root, ['serve-gateways.ts', server])
    const environment = {
      TEST_DATABASES: socket,
      TEST_SERVER: server,
      TEST_GATEWAYS: await gateways.socket,
    }
    return { environment, stop }
  } catch (thrown) {
    await stop()
    throw thrown
  }
}

/** Starts a service of all test files, of server/testing: one with the databases, one with the gateways. */
function startService(bun, root, [file, ...args]) {
  const name = file.replace(/^serve-|\.ts$/g, '')
  const child = spawn(bun, [join(root, 'server/testing', file), ...args], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const said = once(child.stdout, 'data').then(([bytes]) => String(bytes).trim())
  return {
    socket: Promise.race([
      said,
      ended.then(() => Promise.reject(new Error(`what makes ${name} for tests did not start`))),
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
