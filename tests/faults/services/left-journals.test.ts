import { afterEach, beforeEach, expect, setDefaultTimeout, test } from 'bun:test'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { hasEachBooked, sumsOf } from './booked'
import { createObservations, startLoad, sendObserved, type LoadObservations } from './client-load'
import { expectFiredAtStart, expectNothingLost } from './crashes'
import { startNodes, type Nodes } from '../../harness/nodes'
import { startRedis, type RedisServer } from '../../harness/redis-server'
import { workersOf } from './worker-processes'
import { eventually } from '../../../server/testing/eventually'
import { runCommand } from '../../harness/run-command'
import type { Customer } from '../../harness/server'

setDefaultTimeout(180_000)

const encryptionKey = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64')

let redis: RedisServer
let nodes: Nodes
let customers: Customer[]

beforeEach(async () => {
  redis = await startRedis()
})
afterEach(async () => {
  await nodes[Symbol.asyncDispose]()
  await redis[Symbol.asyncDispose]()
})

const workers = (count: number) => ({
  WORKERS: String(count),
  REDIS_URL: redis.url,
  DATABASE_POOL_SIZE: '3',
})

async function open(environment: Record<string, string>): Promise<void> {
  const own = { LOG_LEVEL: 'info', ENCRYPTION_KEY: encryptionKey, ...environment }
  nodes = await startNodes(1, own)
  customers = await Promise.all(Array.from({ length: 6 }, () => nodes.customer(1_000_000_000_000n)))
}

/** Kills node 0 with settled usage that is not booked, and with open attempts. */
async function dieUnbooked(): Promise<LoadObservations> {
  const models: [string, number][] = [
    [await nodes.model('chunks-5'), 5],
    [await nodes.model('chunks-12-gap-10'), 12],
  ]
  const witness = createObservations()
  // Open at the kill, however long a busy machine needs until then.
  const model = await nodes.model('held-5')
  const running = customers
    .slice(0, 4)
    .map((customer) =>
      sendObserved(nodes.at(0), { customer, model, tokens: 5, stream: true }, witness),
    )
  await eventually(() => nodes.upstream.heldCount() === running.length)
  const load = startLoad(() => nodes.at(0), { customers, models }, witness)
  // Without the database only those are served that have a lease.
  await eventually(() => hasEachBooked(nodes.sql, customers))
  const before = (await sumsOf(nodes.sql, customers)).events
  nodes.wireOf(0).cut()
  await eventually(() => witness.completed.length > before + 60)
  const pids = await workersOf(nodes.at(0).dataDir)
  // The launcher of workers first, as it would restart them.
  const died = nodes.at(0).stop('SIGKILL')
  for (const pid of pids.values()) process.kill(pid, 'SIGKILL')
  await Promise.all([died, load.stop(), ...running])
  nodes.wireOf(0).mend()
  return witness
}

/** Returns the doctor's findings on the journals of a stopped node. */
async function runDoctor(): Promise<string> {
  const environment = {
    DATABASE_URL: nodes.postgres.url,
    DATA_DIR: nodes.at(0).dataDir,
    ENCRYPTION_KEY: encryptionKey,
  }
  const { out } = await runCommand('doctor', environment)
  return out.split('\n').find((line) => line.includes('journal')) ?? out
}

const inOneProcess = { WORKERS: '' }

test('C01: the journal of one process is booked once by the workers that follow it', async () => {
  await open({})
  const witness = await dieUnbooked()
  const again = await nodes.restart(0, workers(2))
  await eventually(() => again.output().includes('a journal in another layout was booked'))
  const { orphans } = await expectNothingLost(nodes, customers, witness)
  expect(orphans).toBeGreaterThanOrEqual(4)
})

test('C01: the journals of workers are booked once by one process, or by fewer workers', async () => {
  await open(workers(3))
  const witness = await dieUnbooked()
  const left = await readdir(join(nodes.at(0).dataDir, 'workers'))
  expect(left.toSorted()).toEqual(['1', '2', '3'])
  expect(await runDoctor()).toMatch(/[1-9]\d* attempts wait to be booked.* in workers\/[123]/)
  await nodes.restart(0, inOneProcess)
  // A start does not wait for it, and the journal is marked a moment after the ledger's commit.
  await eventually(async () => (await runDoctor()).includes(' 0 attempts wait'))
  const { events, orphans } = await expectNothingLost(nodes, customers, witness)
  expect(orphans).toBeGreaterThanOrEqual(4)
  await eventually(async () => (await runDoctor()).includes(' 0 attempts wait'))
  // Another start with this layout has nothing to book, and logs nothing.
  await nodes.at(0).stop()
  const again = await nodes.restart(0, inOneProcess)
  expect(again.output()).not.toContain('another layout')
  expect((await sumsOf(nodes.sql, customers)).events).toBeGreaterThanOrEqual(events)
})

test('C03: killed while it books the journal of another layout, the next start books the rest', async () => {
  await open(workers(2))
  const witness = await dieUnbooked()
  for (const point of ['replay-mid', 'flush-before-commit', 'flush-after-commit'] as const) {
    await nodes.at(0).stop('SIGKILL')
    await expectFiredAtStart({ ...nodes, restart: restartAlone }, point)
  }
  await nodes.restart(0, inOneProcess)
  await eventually(async () => (await runDoctor()).includes(' 0 attempts wait'))
  await expectNothingLost(nodes, customers, witness)
})

const restartAlone: Nodes['restart'] = (index, own) =>
  nodes.restart(index, { ...own, ...inOneProcess })

test('C01: journals of running workers of the previous layout are left to them, and booked when they have exited', async () => {
  await open(workers(2))
  const { dataDir } = nodes.at(0)
  const model = await nodes.model('held-5')
  const [customer] = customers
  if (!customer) throw new Error('there is no customer')
  const running = sendObserved(
    nodes.at(0),
    { customer, model, tokens: 5, stream: true },
    createObservations(),
  )
  await eventually(() => nodes.upstream.heldCount() === 1)
  const pids = [...(await workersOf(dataDir)).values()]
  // Workers of a killed launcher exit; these cannot.
  for (const pid of pids) process.kill(pid, 'SIGSTOP')
  process.kill(nodes.at(0).pid, 'SIGKILL')
  await eventually(() => nodes.at(0).hasExited())
  const again = await nodes.restart(0, inOneProcess)
  // The log line appears some moments later.
  await eventually(() => again.output().includes('could not be booked yet'))
  expect(again.output()).toContain('in use by another Tollgate')
  expect((await sumsOf(nodes.sql, customers)).events).toBe(0)
  for (const pid of pids) process.kill(pid, 'SIGKILL')
  await running
  await eventually(() => again.output().includes('a journal in another layout was booked'))
  expect(await sumsOf(nodes.sql, customers)).toMatchObject({ events: 1, orphans: 1 })
})
