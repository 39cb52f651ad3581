// The commands of the launcher that run tests: what each is for is in CONTRIBUTING.md. Plain JavaScript for any
// Node from 18 on, as the launcher is.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import os from 'node:os'
import { join } from 'node:path'

/** Twice what the longest suite takes on two processors. */
const limitMs = Number(process.env.TEST_LIMIT_MINUTES ?? 40) * 60_000

/** What has a command of its own. */
const apart = 'tests/{services,dashboard,hostile,docs/installed}/**'
const folders = ['bench', 'cli', 'connect', 'dashboard', 'deploy', 'server', 'tests']

/** By the names of commands. `run` runs a program to its end, `findBun` returns the path of our Bun. */
export function testSuites({ root, run, findBun }) {
  /** A machine that is busy is slow, not wrong. A test that never yields is named, and ends the run. */
  async function bunTest(args) {
    const databases = startDatabases(findBun(), root)
    try {
      const socket = await databases.socket
      if (socket === undefined) throw new Error('what makes databases for tests did not start')
      process.env.TEST_DATABASES = socket
      return await run(findBun(), ['test', '--timeout', '60000', ...args], { cwd: root, limitMs })
    } finally {
      await databases.stop()
    }
  }

  /** With all that `npm test` samples. */
  function deepTest(args) {
    process.env.TEST_DEEP = 'true'
    return bunTest(args)
  }

  const inRoot = (file, args) => run(findBun(), [join(root, file), ...args], { cwd: root })

  return {
    // Files at a time as there are processors: most of what they do is wait for processes to start.
    test: (args) => bunTest(['--parallel', ignoring(`{${apart},**/*.deep.test.ts}`), ...args]),
    deep: (args) => {
      const files = args.some((arg) => !arg.startsWith('-')) ? [] : deepFiles(root)
      return deepTest(['--parallel', ignoring(apart), ...files, ...args])
    },
    // More at a time than there are processors, as they wait for clocks more than for anything else.
    faults: (args) => {
      process.env.TEST_EMBEDDED ??= 'true'
      return deepTest([`--parallel=${os.cpus().length + 1}`, ...services(args)])
    },
    docs: (args) => bunTest(['tests/docs/installed', ...args]),
    // Each file starts a gateway and a browser before its first test.
    dashboard: (args) => {
      const files = args.length > 0 ? args : ['tests/dashboard']
      return bunTest(['--timeout', '120000', '--parallel', ...files])
    },
    simulation: (args) => inRoot('server/simulation/run.ts', args),
    // An attack is measured: one file at a time, and nothing beside it.
    hostile: (args) => {
      process.env.TEST_EMBEDDED ??= 'true'
      return inRoot('tests/hostile/run.ts', args)
    },
    clients: (args) => run(findBun(), [join(root, 'tests/clients/run.ts'), ...args]),
    fuzz: (args) => {
      const drawn = String(Math.floor(Math.random() * 2 ** 31))
      const { FUZZ_SEED = drawn, FUZZ_RUNS = '500', FUZZ_SECONDS = '1800' } = process.env
      const { HTTP_FUZZ_RUNS = '20000' } = process.env
      Object.assign(process.env, { FUZZ_SEED, FUZZ_RUNS, FUZZ_SECONDS, HTTP_FUZZ_RUNS })
      const suites = ['tests/fuzz', 'server/src/upstream/http/hostile-answers.test.ts']
      return deepTest(['--timeout', '120000', ...suites, ...args])
    },
  }
}

const ignoring = (pattern) => `--path-ignore-patterns=${pattern}`

/** Names of suites among those that need services; all of them where none is named. */
function services(args) {
  const first = args.findIndex((arg) => arg.startsWith('-'))
  const names = first < 0 ? args : args.slice(0, first)
  const suites = names.map((name) => `tests/services/${name}`)
  return [...(suites.length > 0 ? suites : ['tests/services']), ...args.slice(names.length)]
}

/** What `npm test` leaves out, and what it only samples. */
function deepFiles(root) {
  const tested = folders.filter((folder) => existsSync(join(root, folder)))
  const paths = tested.flatMap((folder) => testsBelow(root, folder))
  return paths.filter((path) => {
    if (path.endsWith('.deep.test.ts')) return true
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

/** What makes databases for the tests of all files, in one PostgreSQL that begins with the first. */
function startDatabases(bun, root) {
  const child = spawn(bun, [join(root, 'server/testing/serve-databases.ts')], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  const ended = once(child, 'exit')
  const said = once(child.stdout, 'data').then(([bytes]) => String(bytes).trim())
  return {
    socket: Promise.race([said, ended.then(() => undefined)]),
    async stop() {
      child.stdin.end()
      await ended
    },
  }
}
