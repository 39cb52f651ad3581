import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFile } from 'node:fs/promises'
import { connectProvider } from './nodes'
import { startRedis, type RedisServer } from './redis-server'
import { startGateway, type Customer, type Gateway } from '../rig'
import { startFakeProvider, type FakeProvider } from '../upstreams/fake-provider'

const count = 2

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
}, 60_000)
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
    pids.map(async (child) => ({ child, line: await readFile(`/proc/${child}/cmdline`, 'utf8') })),
  )
  return lines.flatMap(({ child, line }) => (line.includes('main.ts') ? [child] : []))
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

test('several workers answer on one port, and charge one balance', async () => {
  const before = await balance()
  const costs = []
  for (let asked = 0; asked < 40; asked += 1) {
    const response = await ask()
    expect(response.status).toBe(200)
    costs.push(Number(response.headers.get('x-tollgate-cost')))
    await response.body?.cancel()
  }
  const cost = costs.reduce((sum, one) => sum + one, 0)
  expect(cost).toBeGreaterThan(0)
  const deadline = performance.now() + 10_000
  while (before - (await balance()) < cost - 1e-9 && performance.now() < deadline)
    await Bun.sleep(50)
  expect(before - (await balance())).toBeCloseTo(cost, 9)
  expect(answered()).toEqual(new Set([1, 2]))
})

test('a worker that dies is restarted, and the other answers meanwhile', async () => {
  const [first = 0, ...others] = await childrenOf(gateway.pid)
  expect(others).toHaveLength(count - 1)
  process.kill(first, 'SIGKILL')
  await Bun.sleep(100)
  for (let asked = 0; asked < 10; asked += 1) expect((await ask()).status).toBe(200)
  const deadline = performance.now() + 15_000
  const again = async () => (await childrenOf(gateway.pid)).filter((pid) => pid !== first)
  while ((await again()).length < count && performance.now() < deadline) await Bun.sleep(50)
  expect(await again()).toHaveLength(count)
  expect(gateway.output()).toContain('a worker ended by itself; it is started again')
})

test('a port in use is rejected, also where another set of workers uses it', async () => {
  const port = new URL(gateway.url).port
  const second = start({ PORT: port })
  await expect(second).rejects.toThrow(`127.0.0.1:${port} is in use`)
})

test('workers without a Redis are rejected, in one line', async () => {
  const alone = startGateway({ environment: { WORKERS: '2' } })
  await expect(alone).rejects.toThrow('tollgate: REDIS_URL is required with WORKERS=2')
})

test('more workers than the embedded database has connections for are rejected', async () => {
  await expect(start({ WORKERS: '9' })).rejects.toThrow(
    'tollgate: WORKERS=9 with a DATABASE_POOL_SIZE',
  )
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
  await Bun.sleep(500)
  const opened = await Promise.all(
    Array.from({ length: 12 }, () => ask({ model: model.id, stream: true }, own)),
  )
  expect(opened.map(({ status }) => status)).toEqual(opened.map(() => 200))
  const stopped = own.stop('SIGTERM')
  const texts = await Promise.all(opened.map((response) => response.text()))
  for (const text of texts) expect(text.endsWith('data: [DONE]\n\n')).toBe(true)
  expect(await stopped).toBe(0)
}, 30_000)
