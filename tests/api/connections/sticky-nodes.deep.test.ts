import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import {
  allowLoopback,
  call,
  completion,
  idIn,
  createCustomer,
  upstreamEnvironment,
  startUpstream,
  type Upstream,
} from '../../harness/byok'
import { startTwoNodes, type TwoNodes } from '../../harness/database'
import { sendRequest, type Json } from '../../harness/http'
import type { Customer, Gateway } from '../../harness/server'
import { eventually } from '../../../server/testing/eventually'

/** Nodes that share nothing but a database send a conversation to the same place, where its prompt is cached. */

const models = ['fake/one', 'fake/two', 'fake/three']
const keys = ['a', 'b', 'c', 'd']

let nodes: TwoNodes
let upstream: Upstream
let customer: Customer

beforeAll(async () => {
  upstream = startUpstream()
  nodes = await startTwoNodes({ environment: upstreamEnvironment(upstream) })
  const { a } = nodes
  await allowLoopback(a)
  await a.admin('POST', '/providers', { key: 'fake', name: 'Fake', adapter: 'openai' })
  for (const id of models) {
    const fields = { name: id, category: 'chat', pricing: { input: 1, output: 4 } }
    await a.admin('POST', '/models', { id, ...fields })
  }
  customer = await createCustomer(a)
})
afterAll(async () => {
  nodes.a.recorder.verify()
  nodes.b.recorder.verify()
  await nodes[Symbol.asyncDispose]()
  await upstream[Symbol.asyncDispose]()
})
beforeEach(() => {
  upstream.answer = () => completion()
})

const begin = (text: string) => [{ role: 'user', content: text }]
const goOn = (text: string) => [
  ...begin(text),
  { role: 'assistant', content: 'Hello.' },
  { role: 'user', content: 'And?' },
]

/** `fake/one a`: the model and the key that a request was served with. */
async function servedBy(node: Gateway, by: Customer, fields: Json): Promise<string> {
  const { status, body, text } = await sendRequest(node, { key: by.key, body: fields })
  if (status !== 200) throw new Error(text)
  return `${String(body['model'])} ${upstream.requests.at(-1)?.headers.get('authorization')?.at(-1)}`
}

/** A pool of a connection for each key; resolves once both nodes serve by it. */
async function makePool(by: Customer, strategy: string): Promise<Map<string, string>> {
  const ids = new Map<string, string>()
  for (const key of keys) {
    const own = { name: key, provider: 'fake', endpoint_url: upstream.url, api_key: `sk-${key}` }
    ids.set(key, idIn(await call(nodes.a, by, 'POST /connections', own)))
  }
  const fields = { name: 'p', provider: 'fake', strategy, connection_ids: [...ids.values()] }
  idIn(await call(nodes.a, by, 'POST /connection-pools', fields))
  // Named, they go to the connections by no turn: each has some of forty but in one of 25,000 runs.
  await eventually(async () => {
    const seen = new Set<string>()
    for (let at = 0; at < 40; at++) {
      const fields = { model: models[0], messages: begin('x'), prompt_cache_key: `ready ${at}` }
      const { status } = await sendRequest(nodes.b, { key: by.key, body: fields })
      if (status === 200) seen.add(String(upstream.requests.at(-1)?.headers.get('authorization')))
    }
    return seen.size === keys.length
  })
  return ids
}

const texts = (name: string) => Array.from({ length: 12 }, (_, at) => `${name} ${at}`)

test.each(['round_robin', 'least_used', 'random'])(
  'a pool by %s: every node sends a conversation to the same connection',
  async (strategy) => {
    const by = await createCustomer(nodes.a)
    await makePool(by, strategy)
    const { a, b } = nodes
    const used = new Set<string>()
    for (const text of texts(strategy)) {
      await servedBy(b, by, { model: models[0], messages: begin(text) })
      const request = { model: models[0], messages: goOn(text) }
      const places = new Set<string>()
      for (const node of [a, b, b, a]) places.add(await servedBy(node, by, request))
      expect([text, ...places]).toHaveLength(2)
      for (const place of places) used.add(place)
    }
    // Four connections for twelve conversations: fewer than three would be in one of 400 runs.
    expect(used.size).toBeGreaterThan(1)
  },
)

test('a conversation named by its client keeps its route from the first request on, for any text', async () => {
  const by = await createCustomer(nodes.a)
  await makePool(by, 'round_robin')
  for (const name of texts('session')) {
    const places = new Set<string>()
    for (const node of [nodes.a, nodes.b, nodes.a]) {
      const messages = begin(`${name} ${places.size} ${node.url}`)
      places.add(await servedBy(node, by, { model: models[0], messages, prompt_cache_key: name }))
    }
    expect([name, ...places]).toHaveLength(2)
  }
})

test('only the conversations of a removed connection move, to the same place on every node', async () => {
  const by = await createCustomer(nodes.a)
  const ids = await makePool(by, 'round_robin')
  const { a, b } = nodes
  const ask = (node: Gateway, name: string) =>
    servedBy(node, by, { model: models[0], messages: begin(name), prompt_cache_key: name })
  const names = texts('moving')
  const before = new Map<string, string>()
  // Only one of them remembers.
  for (const name of names) before.set(name, await ask(a, name))
  const [gone = ''] = [...before.values()].map((place) => place.at(-1))
  await call(a, by, `PUT /connections/${ids.get(gone)}`, { status: 'inactive' })
  await eventually(async () => {
    // One after the other: the provider's last request is then that of the answer.
    for (const name of names) if ((await ask(b, name)).endsWith(gone)) return false
    return true
  })
  for (const name of names) {
    const was = String(before.get(name))
    const [onA, onB] = [await ask(a, name), await ask(b, name)]
    expect([name, onA]).toEqual([name, onB])
    if (!was.endsWith(gone)) expect([name, onB]).toEqual([name, was])
  }
})

test('after a failure of its connection, every node sends it to the same other one', async () => {
  const by = await createCustomer(nodes.a)
  await makePool(by, 'round_robin')
  const { a, b } = nodes
  const request = { model: models[0], messages: goOn('failing') }
  const first = await servedBy(a, by, request)
  upstream.answer = ({ headers }) =>
    headers.get('authorization')?.endsWith(first.slice(-1)) === true
      ? Response.json({ error: { message: 'overloaded' } }, { status: 503 })
      : completion()
  const second = await servedBy(a, by, request)
  expect(second).not.toBe(first)
  expect(await servedBy(b, by, request)).toBe(second)
  upstream.answer = () => completion()
  expect([await servedBy(a, by, request), await servedBy(b, by, request)]).toEqual([second, second])
})

test.each(['round_robin', 'least_used', 'random', 'weighted'])(
  'a collection by %s: every node sends a conversation to the same model',
  async (routing_strategy) => {
    const { a, b } = nodes
    await a.admin('POST', '/connections', {
      name: `platform ${routing_strategy}`,
      provider: 'fake',
      api_key: 'sk-x',
      endpoint_url: upstream.url,
    })
    await a.admin('POST', '/credits/grant', {
      user_id: customer.userId,
      amount: 10,
      reason: 'test',
    })
    const members = models.map((model_id, at) => ({ model_id, weight: at + 1 }))
    const fields = { name: `of-${routing_strategy}`, routing_strategy, members }
    const made = await call(a, customer, 'POST /user/model-collections', fields)
    const model = String(made.body['model_id'])
    await eventually(async () => {
      const chatRequest = { key: customer.key, body: { model, messages: begin('is it there?') } }
      return (await sendRequest(b, chatRequest)).status === 200
    })
    const used = new Set<string>()
    for (const text of texts(routing_strategy)) {
      await servedBy(b, customer, { model, messages: begin(text) })
      const places = new Set<string>()
      for (const node of [a, b, b, a]) {
        places.add(await servedBy(node, customer, { model, messages: goOn(text) }))
      }
      expect([text, ...places]).toHaveLength(2)
      for (const place of places) used.add(place)
    }
    expect(used.size).toBeGreaterThan(1)
  },
)
