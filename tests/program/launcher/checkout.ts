import { afterEach } from 'bun:test'
import { type ChildProcess, spawn } from 'node:child_process'
import { cp, mkdir, mkdtemp, readdir, realpath, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

const launcher = join(import.meta.dir, '../../../bin/tollgate.mjs')
const cleanups: (() => unknown)[] = []

afterEach(async () => {
  for (const cleanup of cleanups.splice(0).toReversed()) await cleanup()
})

/** Stands in for the server: says what it was given, then does as its first argument says. */
const entry = `
  const { HTTP_PROXY, no_proxy, BUN_CONFIG_MAX_HTTP_REQUESTS, TOLLGATE_LAUNCHER_PID } = process.env
  const seen = { HTTP_PROXY, no_proxy, BUN_CONFIG_MAX_HTTP_REQUESTS }
  const [mode] = process.argv.slice(2)
  if (mode === 'stay') {
    let count = 0
    process.on('SIGHUP', () => {})
    for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => {
      count += 1
      console.log(signal)
    })
    process.on('SIGUSR1', () => process.exit(10 + count))
    setInterval(() => {}, 1000)
  }
  console.log(JSON.stringify({ ...seen, cwd: process.cwd(), launcher: TOLLGATE_LAUNCHER_PID, ppid: process.ppid, pid: process.pid }))
  if (mode === 'die') process.kill(process.pid, 'SIGKILL')
  if (mode?.startsWith('exit-')) process.exit(Number(mode.slice(5)))`

/** In the place of what makes databases for tests: it lasts until its input ends, and says where it is. */
const databases = `
  console.log('/the/socket')
  for await (const _ of process.stdin);
  await Bun.write('databases-ended', '')`

/** In the place of what starts gateways for tests: its path says from which server. */
const gateways = `
  console.log('/gateways/of' + process.argv[2])
  for await (const _ of process.stdin);
  await Bun.write('gateways-ended', '')`

/** A copy of the launcher with a server of our own. */
export async function checkout(): Promise<string> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'tollgate-test-')))
  cleanups.push(() => rm(root, { recursive: true, force: true }))
  await mkdir(join(root, 'app/bin'), { recursive: true })
  await mkdir(join(root, 'app/server/src'), { recursive: true })
  for (const name of await readdir(dirname(launcher))) {
    if (name.endsWith('.mjs')) await cp(join(dirname(launcher), name), join(root, 'app/bin', name))
  }
  await writeFile(join(root, 'app/package.json'), '{ "version": "1.2.3" }')
  await writeFile(join(root, 'app/server/src/main.ts'), entry)
  await mkdir(join(root, 'app/tests'))
  await writeFile(join(root, 'app/tests/slow-files.json'), '{}')
  await mkdir(join(root, 'app/server/testing'))
  await writeFile(join(root, 'app/server/testing/serve-databases.ts'), databases)
  await writeFile(join(root, 'app/server/testing/serve-gateways.ts'), gateways)
  await writeFile(join(root, 'app/server/testing/bundle-server.ts'), `console.log('/the/server')`)
  return root
}

/** Starts it with these arguments and nothing but these variables. */
export function launch(root: string, args: string[], environment: Record<string, string> = {}) {
  const child = spawn('node', [join(root, 'app/bin/tollgate.mjs'), ...args], {
    cwd: root,
    env: { PATH: process.env['PATH'], TOLLGATE_BUN: process.execPath, ...environment },
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
  })
  // The whole group: a server that outlives its launcher is a failure, but not one to leave behind.
  cleanups.push(() => killGroup(child))
  const output = { out: '', err: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => (output.out += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (output.err += text))
  const { promise, resolve } = Promise.withResolvers<number | null>()
  child.once('close', resolve)
  return { child, output, code: promise }
}

function killGroup({ pid = 0 }: ChildProcess): void {
  try {
    if (pid > 1) process.kill(-pid, 'SIGKILL')
  } catch {
    // All of it has ended by itself, as it should.
  }
}

/** What it printed, and its exit code. */
export async function outcome(started: ReturnType<typeof launch>) {
  const code = await started.code
  return { code, ...started.output }
}
