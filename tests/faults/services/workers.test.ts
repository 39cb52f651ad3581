import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFile } from 'node:fs/promises'
import { eventually } from '../../../server/testing/eventually'
import { connectProvider } from '../../harness/nodes'
import { internalUrl, scrape } from '../../harness/scrape'
import { countMinutes } from '../../harness/http'
import { untilAdmitted } from './endless'
import { assumedUnits } from './load'
import { startRedis, type RedisServer } from '../../harness/redis-server'
import { startGateway, type Customer, type Gateway } from '../../harness/server'
import { startFakeProvider, type FakeProvider } from '../../harness/upstreams/fake-provider'

const count = 2
/** The line of a worker whose launcher did not book. */
const bookedItself = 'the launcher did not book; this worker does'

let redis: RedisServer
let upstream: FakeProvider
let gateway: Gateway
let customer: Customer

beforeAll(async () => {
  redis = await startRedis()
  upstream = await startFakeProvider()
  gateway = await start()
  await connectProvider(gateway, upstream)
  for (const name of ['ok-workers', 'chunks-60-gap-50']) {
    const pricing = { input: 1, output: 4 }
    const model = { id: `fake/${name}`, name, category: 'chat', context_length: 8192 }
    await gateway.admin('POST', '/models', { ...model, max_output_tokens: 4096, pricing })
  }
  customer = await gateway.customer()
}, 120_000)
afterAll(async () => {
  await gateway[Symbol.asyncDispose]()
  await upstream[Symbol.asyncDispose]()
  await redis[Symbol.asyncDispose]()
})

const start = (environment: Record<string, string> = {}) =>
  startGateway({ environment: { WORKERS: String(count), REDIS_URL: redis.url, ...environment } })

/** Lists the children of a process. */
async function childrenOf(pid: number): Promise<number[]> {
  const text = await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')
  const pids = text.split(' ').filter(Boolean).map(Number)
  const lines = await Promise.all(
    pids.map(async (child) => {
      // One of them may have ended meanwhile.
      const line = await readFile(`/proc/${child}/cmdline`, 'utf8').catch(() => '')
      return { child, line }
    }),
  )
  return lines.flatMap(({ child, line }) => (/main\.(ts|js)/.test(line) ? [child] : []))
}

/** Sends a request on a new connection, so that the kernel chooses the worker. */
const ask = (fields: object = {}, on = gateway) =>
  fetch(`${on.url}/v1/chat/completions`, {
    method: 'POST',
    keepalive: false,
    headers: {
      authorization: `Bearer ${customer.key}`,
      'content-type': 'application/json',
      connection: 'close',
    },
    body: JSON.stringify({
      model: 'fake/ok-workers',
      messages: [{ role: 'user', content: 'Hello' }],
      ...fields,
    }),
  })

/** The same as clients do: a connection that an ending worker had not accepted yet is reset, and they connect again. */
const askAgain = () => ask().catch(() => ask())

/** Returns the workers that have answered, by their log lines. */
const answered = () =>
  new Set(
    [...gateway.output().matchAll(/^\{.*"worker":(\d+).*"status":200/gm)].map(([, worker]) =>
      Number(worker),
    ),
  )

async function balance(): Promise<number> {
  const { balance: usd } = await gateway.admin('GET', `/users/${customer.userId}`)
  return Number(usd)
}

test('one answer has the metrics of all workers, and an ended one is counted and restarted', async () => {
  await using own = await start({ METRICS_PORT: '0', LOG_LEVEL: 'info' })
  const url = await internalUrl(own)
  // A worker that answers the launcher late is left out of one answer.
  await eventually(async () => (await scrape(url)).sum('tollgate_worker_up') === count)
  const workersIn = async (name: string) => {
    const { series } = await scrape(url)
    return new Set(series.filter((one) => one.name === name).map(({ labels }) => labels['worker']))
  }
  const both = new Set(['1', '2'])
  const memory = 'process_resident_memory_bytes'
  await eventually(async () => Bun.deepEquals(await workersIn(memory), both))
  await eventually(async () => (await fetch(`${url}/readyz`)).status === 200)
  const [pid = 0] = await childrenOf(own.pid)
  process.kill(pid, 'SIGKILL')
  await eventually(async () => (await scrape(url)).sum('tollgate_worker_restarts_total') === 1)
  await eventually(async () => (await scrape(url)).sum('tollgate_worker_up') === count)
  const checks = { worker_1: true, worker_2: true }
  const readiness = async () => (await fetch(`${url}/readyz`)).json()
  await eventually(async () => Bun.deepEquals(await readiness(), { status: 'ready', checks }))
}, 90_000)

test('several workers answer on one port, and charge one balance', async () => {
  const before = await balance()
  const costs = []
  for (let time = 0; time < 40; time += 1) {
    const response = await ask()
    expect(response.status).toBe(200)
    costs.push(Number(response.headers.get('x-tollgate-cost')))
    await response.body?.cancel()
  }
  const cost = costs.reduce((sum, one) => sum + one, 0)
  expect(cost).toBeGreaterThan(0)
  await eventually(async () => before - (await balance()) > cost - 1e-9)
  expect(before - (await balance())).toBeCloseTo(cost, 9)
  // A worker writes its log lines some milliseconds later.
  await eventually(() => answered().size === count)
  expect(gateway.output()).not.toContain(bookedItself)
})

test('workers book themselves while their launcher hangs, and each event once', async () => {
  process.kill(gateway.pid, 'SIGSTOP')
  try {
    const before = await balance()
    const response = await ask()
    const cost = Number(response.headers.get('x-tollgate-cost'))
    await response.body?.cancel()
    await eventually(async () => before - (await balance()) > cost / 2, 40_000)
    // A worker writes its log lines some milliseconds later, several at once.
    await eventually(() => gateway.output().includes(bookedItself))
    // The launcher books its part as well, as soon as it runs again.
    process.kill(gateway.pid, 'SIGCONT')
    const later = await ask()
    const both = cost + Number(later.headers.get('x-tollgate-cost'))
    await later.body?.cancel()
    await eventually(async () => before - (await balance()) > both - 1e-9, 40_000)
    expect(before - (await balance())).toBeCloseTo(both, 9)
  } finally {
    process.kill(gateway.pid, 'SIGCONT')
  }
}, 120_000)

test('a worker that dies is restarted, and the other answers meanwhile', async () => {
  await eventually(async () => (await childrenOf(gateway.pid)).length === count)
  const [first = 0] = await childrenOf(gateway.pid)
  process.kill(first, 'SIGKILL')
  await eventually(async () => !(await childrenOf(gateway.pid)).includes(first))
  for (let time = 0; time < 10; time += 1) expect((await askAgain()).status).toBe(200)
  const again = async () => (await childrenOf(gateway.pid)).filter((pid) => pid !== first)
  await eventually(async () => (await again()).length === count)
  await eventually(() =>
    gateway.output().includes('a worker terminated unexpectedly; restarting it'),
  )
})

test('a worker that hangs is found and replaced, and the other answers meanwhile', async () => {
  const [first = 0] = await childrenOf(gateway.pid)
  process.kill(first, 'SIGSTOP')
  const isReplaced = async () => {
    const running = await childrenOf(gateway.pid)
    return running.length === count && !running.includes(first)
  }
  await eventually(isReplaced, 60_000)
  await eventually(() => gateway.output().includes('a worker does not respond; killing it'))
  for (let time = 0; time < 10; time += 1) expect((await ask()).status).toBe(200)
}, 120_000)

test('SIGUSR2 restarts the workers one by one, and requests are answered meanwhile', async () => {
  const before = await childrenOf(gateway.pid)
  const statuses: number[] = []
  process.kill(gateway.pid, 'SIGUSR2')
  await eventually(async () => {
    const { status } = await askAgain()
    statuses.push(status)
    return gateway.output().includes('all workers were restarted')
  }, 90_000)
  const after = await childrenOf(gateway.pid)
  expect(after).toHaveLength(count)
  expect(after.filter((pid) => before.includes(pid))).toEqual([])
  expect(new Set(statuses)).toEqual(new Set([200]))
}, 120_000)

test('a port in use is rejected, also where another set of workers uses it', async () => {
  const port = new URL(gateway.url).port
  const second = start({ PORT: port })
  await expect(second).rejects.toThrow(`127.0.0.1:${port} is in use`)
})

test('workers without a Redis share limits through the embedded database', async () => {
  const environment = { WORKERS: '2', METRICS_PORT: '0', LOG_LEVEL: 'info' }
  await using alone = await startGateway({ environment, database: 'embedded' })
  const limit = 30
  const fields = { name: 'small', requests_per_minute: limit, concurrent_requests: 100 }
  const plan = await alone.admin('POST', '/plans', fields)
  const { key } = await alone.customer({}, { plan_id: plan['id'] })
  const statuses: number[] = []
  const admitted = () => statuses.filter((status) => status === 200).length
  const send = async () => {
    const { status } = await fetch(`${alone.url}/v1/models/sandbox/echo`, {
      keepalive: false,
      headers: { authorization: `Bearer ${key}`, connection: 'close' },
    })
    statuses.push(status)
  }
  const minutes = await countMinutes(alone, async () => {
    // A worker that the database answers late refuses what the limit has room for.
    for (let round = 0; round < 60 || (admitted() < limit && round < 600); round++) await send()
  })
  // One whose first answer is late admits its share, and counts that it did.
  const assumed = await assumedUnits([alone])
  const maxAdmitted = limit * minutes + assumed
  expect(admitted()).toBeWithin(limit, maxAdmitted + 1)
  expect(new Set(statuses)).toEqual(new Set([200, 429]))
}, 120_000)

test('more workers than the embedded database has connections for are rejected', async () => {
  await expect(start({ WORKERS: '9' })).rejects.toThrow(
    'tollgate: WORKERS=9 with a DATABASE_POOL_SIZE',
  )
  const withoutRedis = startGateway({ environment: { WORKERS: '7' }, database: 'embedded' })
  await expect(withoutRedis).rejects.toThrow('tollgate: WORKERS=7 with a DATABASE_POOL_SIZE')
})

test('a graceful shutdown lets open streams of all workers end, and exits with 0', async () => {
  await using own = await start()
  await connectProvider(own, upstream)
  const model = {
    id: 'fake/chunks-60-gap-50',
    name: 'slow',
    category: 'chat',
    context_length: 8192,
  }
  await own.admin('POST', '/models', {
    ...model,
    max_output_tokens: 4096,
    pricing: { input: 1, output: 4 },
  })
  const { key } = await own.customer()
  customer = { ...customer, key }
  /** A worker may have to hear of the model first. */
  const openStream = () => untilAdmitted(() => ask({ model: model.id, stream: true }, own))
  const opened = await Promise.all(Array.from({ length: 12 }, openStream))
  expect(opened.map(({ status }) => status)).toEqual(opened.map(() => 200))
  const stopped = own.stop('SIGTERM')
  const texts = await Promise.all(opened.map((response) => response.text()))
  for (const text of texts) expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
  expect(await stopped).toBe(0)
}, 120_000)
