import { afterAll, beforeAll, expect, test } from 'bun:test'
import { eventually } from '../../../server/testing/eventually'
import {
  copyFile,
  mkdir,
  mkdtemp,
  readFile,
  readdir,
  readlink,
  rename,
  rm,
  writeFile,
} from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startRedis, type RedisServer } from '../../harness/redis-server'
import { workersOf } from './worker-processes'
import { newDataDir, startGateway, type RigOptions } from '../../harness/server'

let redis: RedisServer

beforeAll(async () => {
  redis = await startRedis()
}, 60_000)
afterAll(() => redis[Symbol.asyncDispose]())

const start = (workers: number, options: RigOptions = {}) =>
  startGateway({ ...options, environment: { WORKERS: String(workers), REDIS_URL: redis.url } })

/** Tells whether a process listens at the port of that address. */
async function listensAt(pid: number, url: string): Promise<boolean> {
  const port = Number(new URL(url).port).toString(16).toUpperCase().padStart(4, '0')
  const table = await readFile('/proc/net/tcp', 'utf8')
  const listening = table.split('\n').flatMap((line) => {
    const [, local = '', , state, , , , , , inode = ''] = line.trim().split(/\s+/)
    return state === '0A' && local.endsWith(`:${port}`) ? [`socket:[${inode}]`] : []
  })
  const handles = await readdir(`/proc/${pid}/fd`).catch(() => [])
  const links = await Promise.all(
    handles.map((handle) => readlink(`/proc/${pid}/fd/${handle}`).catch(() => '')),
  )
  return links.some((name) => listening.includes(name))
}

/** Resolves once that worker is a new process that listens at the address. */
async function startedAgain(
  worker: number,
  { before, dataDir, url }: { before: number; dataDir: string; url: string },
): Promise<void> {
  await eventually(async () => {
    const now = (await workersOf(dataDir)).get(worker)
    return now !== undefined && now !== before && (await listensAt(now, url))
  })
}

test('a restarted first worker listens at the same port, also where no port is set', async () => {
  await using gateway = await start(2)
  const before = (await workersOf(gateway.dataDir)).get(1) ?? 0
  process.kill(before, 'SIGKILL')
  await startedAgain(1, { ...gateway, before })
}, 300_000)

test('a worker that cannot be spawned is logged and retried until it can', async () => {
  // A copy of the runtime, which can be removed.
  const folder = await mkdtemp(join(tmpdir(), 'tollgate-runtime-'))
  const runtime = join(folder, 'bun')
  await copyFile(process.execPath, runtime)
  {
    await using gateway = await start(2, { runtime })
    const before = (await workersOf(gateway.dataDir)).get(2) ?? 0
    await rename(runtime, `${runtime}.away`)
    process.kill(before, 'SIGKILL')
    const failed = () =>
      gateway
        .output()
        .split('\n')
        .filter((line) => line.includes('a worker could not be started'))
    await eventually(() => failed().length >= 2)
    // It waits longer each time.
    const [first, second] = failed().map((line) => Number(/"inMs":(\d+)/.exec(line)?.[1]))
    expect(second).toBeGreaterThan(first ?? Infinity)
    await rename(`${runtime}.away`, runtime)
    await startedAgain(2, { ...gateway, before })
  }
  await rm(folder, { recursive: true })
}, 300_000)

test('one worker that cannot start makes all exit, and one line names it', async () => {
  const dataDir = await newDataDir()
  await mkdir(join(dataDir, 'workers'), { recursive: true })
  // Not a directory: its worker exits at once, while the third still starts.
  await writeFile(join(dataDir, 'workers/2'), '')
  const thrown = await start(3, { dataDir }).then(
    async (gateway) => {
      await gateway.stop()
      return 'it started'
    },
    (error: Error) => error.message,
  )
  // Its own line, and the resulting one: nothing from workers that could have started.
  expect(thrown.split('\n').filter((line) => line.startsWith('tollgate:'))).toEqual([
    expect.stringContaining(`The data directory ${dataDir}/workers/2 cannot be used`),
    'tollgate: Worker 2 did not start.',
  ])
  await eventually(async () => (await workersOf(dataDir)).size === 0)
  await rm(dataDir, { recursive: true, force: true })
}, 300_000)
