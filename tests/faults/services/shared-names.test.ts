import { afterAll, beforeAll, expect, test } from 'bun:test'
import { eventually } from '../../../server/testing/eventually'
import { connectProvider } from '../../harness/nodes'
import { startRedis, type RedisServer } from '../../harness/redis-server'
import { startTwoNodes, type TwoNodes } from '../../harness/database'
import { sendRequest, messages, type Json } from '../../harness/http'
import type { Customer, Gateway } from '../../harness/server'
import { startFakeProvider, type FakeProvider } from '../../harness/upstreams/fake-provider'

let redis: RedisServer
let nodes: TwoNodes
let upstream: FakeProvider
let customer: Customer

beforeAll(async () => {
  redis = await startRedis()
  upstream = await startFakeProvider()
  nodes = await startTwoNodes({ environment: { REDIS_URL: redis.url, LOG_LEVEL: 'warn' } })
  await connectProvider(nodes.a, upstream)
  for (const name of ['ok-a', 'ok-b', 'ok-c']) {
    const pricing = { input: 1, output: 4 }
    await nodes.a.admin('POST', '/models', { id: `fake/${name}`, name, category: 'chat', pricing })
  }
  customer = await nodes.a.customer()
}, 60_000)
afterAll(async () => {
  for (const node of [nodes.a, nodes.b]) node.recorder.verify()
  await nodes[Symbol.asyncDispose]()
  await upstream[Symbol.asyncDispose]()
  await redis[Symbol.asyncDispose]()
})

async function served(node: Gateway, model: string): Promise<string> {
  const { text, error } = await sendRequest(node, { key: customer.key, body: { model, messages } })
  return /"model":"fake\/ok-(\w+)"/.exec(text)?.[1] ?? error.code ?? text
}

function api(node: Gateway, request: string, body: Json) {
  const [method = '', path = ''] = request.split(' ')
  return sendRequest(node, { path: `/api${path}`, method, key: customer.key, body })
}

test('aliases created, changed or deleted on one node are known on the other', async () => {
  const { a, b } = nodes
  expect(await served(b, 'gpt-4o')).toBe('invalid_model')
  const made = await api(a, 'POST /user/model-mappings', {
    source_pattern: 'gpt-4o',
    target_model: 'fake/ok-a',
  })
  await eventually(async () => (await served(b, 'gpt-4o')) === 'a')
  const path = `/user/model-mappings/${String(made.body['id'])}`
  await api(a, `PUT ${path}`, { target_model: 'fake/ok-b' })
  await eventually(async () => (await served(b, 'gpt-4o')) === 'b')
  await api(a, `DELETE ${path}`, {})
  await eventually(async () => (await served(b, 'gpt-4o')) === 'invalid_model')
})

test("collections of an account and of the system, down to their members' changes", async () => {
  const { a, b } = nodes
  const own = await api(a, 'POST /user/model-collections', { name: 'own' })
  await api(a, `POST /user/model-collections/${String(own.body['id'])}/members`, {
    model_id: 'fake/ok-a',
  })
  await eventually(async () => (await served(b, 'collection/own')) === 'a')
  const system = await a.admin('POST', '/collections', { name: 'all', members: ['fake/ok-b'] })
  await eventually(async () => (await served(b, 'collection/all')) === 'b')
  await a.admin('PUT', `/collections/${String(system['id'])}`, { members: ['fake/ok-c'] })
  await eventually(async () => (await served(b, 'collection/all')) === 'c')
})

test('round_robin: the nodes share one counter', async () => {
  const { a, b } = nodes
  const members = ['fake/ok-a', 'fake/ok-b', 'fake/ok-c']
  const fields = { name: 'turns', routing_strategy: 'round_robin', members }
  await api(a, 'POST /user/model-collections', fields)
  await eventually(async () => (await served(b, 'collection/turns')) !== 'model_not_found')
  // A node that Redis answers late counts by itself for that request.
  await eventually(async () => {
    const found: string[] = []
    for (const node of [a, b, a, b, b, a]) found.push(await served(node, 'collection/turns'))
    return 'abcabcabc'.includes(found.join(''))
  })
})

test('round_robin: without Redis each node counts by itself, and no request is rejected', async () => {
  await redis.kill()
  const found = new Set<string>()
  for (let time = 0; time < 3; time++) found.add(await served(nodes.a, 'collection/turns'))
  expect(found).toEqual(new Set(['a', 'b', 'c']))
  await redis.restart()
})
