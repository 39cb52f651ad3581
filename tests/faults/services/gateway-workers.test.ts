import { expect, test } from 'bun:test'
import { startRedis } from '../../harness/redis-server'
import { call, createCustomer } from '../../harness/byok'
import { messages, parsed } from '../../harness/http'
import { eventually } from '../../../server/testing/eventually'
import { Agent } from '../../harness/tunnel-agent'
import { internalUrl, scrape } from '../../harness/scrape'
import { startGateway, type Customer, type Gateway } from '../../harness/server'
import { workersOf } from './worker-processes'

const requestCount = 40
const environment = { WORKERS: '2', MINIMUM_BALANCE_USD: '0', LOG_LEVEL: 'info' }

/** Creates a customer with a self-hosted gateway of the provider `fake`; returns the gateway's token too. */
async function createOwner(gateway: Gateway) {
  await gateway.admin('POST', '/providers', { key: 'fake', name: 'Fake', adapter: 'openai' })
  const owner = await createCustomer(gateway)
  const { body } = await call(gateway, owner, 'POST /gateways', { name: 'Mine' })
  return { owner, token: String(body['token']) }
}

const connect = (gateway: Gateway, token: string) =>
  new Agent(`${gateway.url.replace('http', 'ws')}/gateway`, token)

/** Sends a request on a new connection, so that the kernel chooses the worker. */
async function ask(gateway: Gateway, owner: Customer, content: string) {
  const response = await fetch(`${gateway.url}/v1/chat/completions`, {
    method: 'POST',
    keepalive: false,
    headers: {
      authorization: `Bearer ${owner.key}`,
      'content-type': 'application/json',
      connection: 'close',
    },
    body: JSON.stringify({ model: 'fake/mine', messages: [{ ...messages[0], content }] }),
  })
  const text = await response.text()
  return [response.status, parsed(text)['error']]
}

/** The workers that answered requests with success. */
const answeredBy = (output: string) =>
  new Set(
    [...output.matchAll(/^\{.*"worker":(\d+).*"path":"\/v1.*"status":200/gm)].map(
      ([, worker = '']) => worker,
    ),
  )

/** Beyond 64 kB a body goes another way than messages do. */
const prompts = ['Hello', 'x'.repeat(200_000)]

/** Waits until each worker has served a request: the cached models of one may be older than the gateway. */
async function waitUntilServedByBoth(gateway: Gateway, owner: Customer) {
  const { length } = gateway.output()
  await eventually(async () => {
    await ask(gateway, owner, 'Hello')
    return answeredBy(gateway.output().slice(length)).size === 2
  })
}

async function expectServedByBoth(gateway: Gateway, owner: Customer) {
  const { length } = gateway.output()
  for (let at = 0; at < requestCount; at += 1) {
    expect(await ask(gateway, owner, prompts[at % 2] ?? '')).toEqual([200, undefined])
  }
  // Workers write their logs a moment later.
  await eventually(() => answeredBy(gateway.output().slice(length)).size === 2)
}

for (const store of ['Redis', 'the launcher'] as const) {
  test(`a gateway connected to one of two workers serves requests to either, through ${store}`, async () => {
    await using redis = store === 'Redis' ? await startRedis() : undefined
    await using gateway = await startGateway({
      environment: { ...environment, ...(redis && { REDIS_URL: redis.url }) },
    })
    const { owner, token } = await createOwner(gateway)
    using agent = connect(gateway, token)
    await agent.ready()
    await waitUntilServedByBoth(gateway, owner)
    const { length } = agent.seen('request')
    await expectServedByBoth(gateway, owner)
    expect(agent.seen('request')).toHaveLength(length + requestCount)
  }, 120_000)
}

test('without a Redis, a gateway reconnects and serves both workers after one of them was killed', async () => {
  await using gateway = await startGateway({ environment: { ...environment, METRICS_PORT: '0' } })
  const url = await internalUrl(gateway)
  const { owner, token } = await createOwner(gateway)
  for (const killed of [1, 2]) {
    const pid = (await workersOf(gateway.dataDir)).get(killed)
    if (pid === undefined) throw new Error(`there is no worker ${killed}`)
    const restarts = async () => (await scrape(url)).sum('tollgate_worker_restarts_total')
    const before = await restarts()
    process.kill(pid, 'SIGKILL')
    await eventually(async () => {
      const { sum } = await scrape(url)
      return sum('tollgate_worker_restarts_total') > before && sum('tollgate_worker_up') === 2
    })
    using agent = connect(gateway, token)
    await agent.ready()
    await waitUntilServedByBoth(gateway, owner)
    await expectServedByBoth(gateway, owner)
  }
}, 120_000)
