import { afterAll, beforeAll, beforeEach, expect, test } from 'bun:test'
import { createFixture, type Fixture } from './fixture'
import { sendRequest, type Json } from '../../harness/http'

/** The next request of a conversation finds the cache of the one before. */

let fixture: Fixture

const members = ['fake/ok-a', 'fake/ok-b', 'fake/ok-c']

beforeAll(async () => {
  fixture = await createFixture({ BREAKER_SECONDS: '6000' })
  for (const name of ['ok-a', 'ok-b', 'ok-c', 'status-500']) await fixture.rig.model(name, {})
})
afterAll(() => fixture[Symbol.asyncDispose]())
beforeEach(() => fixture.rig.upstream.reset())

let made = 0
const collection = (fields: Json) => fixture.collection({ name: `k${++made}`, members, ...fields })

const begin = (text: string) => [{ role: 'user', content: text }]
const goOn = (text: string) => [
  ...begin(text),
  { role: 'assistant', content: 'Yes.' },
  { role: 'user', content: 'And?' },
]

async function servedBy(model: string, fields: Json): Promise<string> {
  const { status, body, text } = await fixture.chat(model, fields)
  if (status !== 200) throw new Error(text)
  return String(body['model'])
}

test.each(['round_robin', 'least_used', 'random', 'weighted', 'lowest_latency'])(
  '%s: conversations stay with the model that served them',
  async (routing_strategy) => {
    const model = await collection({ routing_strategy })
    const texts = Array.from({ length: 6 }, (_, at) => `${routing_strategy} ${at}`)
    const first = new Map<string, string>()
    for (const text of texts) first.set(text, await servedBy(model, { messages: begin(text) }))
    for (const text of [...texts, ...texts.toReversed()]) {
      expect(await servedBy(model, { messages: goOn(text) })).toBe(String(first.get(text)))
    }
  },
)

test('they take no turn, and first requests are served in turns as ever', async () => {
  const model = await collection({ routing_strategy: 'round_robin' })
  const order: string[] = []
  for (let turn = 0; turn < 4; turn++) {
    order.push(await servedBy(model, { messages: begin('the same text') }))
    await servedBy(model, { messages: goOn('the same text') })
  }
  expect(order).toEqual(['fake/ok-a', 'fake/ok-b', 'fake/ok-c', 'fake/ok-a'])
})

test('a client names its conversation by prompt_cache_key', async () => {
  const model = await collection({ routing_strategy: 'round_robin' })
  const named = { prompt_cache_key: 'session 1' }
  const first = await servedBy(model, { messages: begin('one'), ...named })
  for (const text of ['two', 'three', 'four']) {
    expect(await servedBy(model, { messages: begin(text), ...named })).toBe(first)
  }
})

test('streams and requests in the Messages format are conversations too', async () => {
  const model = await collection({ routing_strategy: 'round_robin' })
  const texts = ['x', 'y']
  const first: string[] = []
  for (const text of texts) {
    await fixture.stream(model, { messages: begin(text) })
    first.push(fixture.calledModels().at(-1) ?? '')
  }
  expect(first).toEqual(['ok-a', 'ok-b'])
  for (const [at, text] of texts.entries()) {
    const body = { model, max_tokens: 10, messages: goOn(text) }
    await sendRequest(fixture.rig.gateway, {
      path: '/v1/messages',
      key: fixture.customer.key,
      body,
    })
    expect(fixture.calledModels().at(-1)).toBe(first[at])
  }
})

test('priority and lowest_cost keep the order that is meant', async () => {
  const ranked = members.map((model_id, at) => ({ model_id, priority: at + 1 }))
  const model = await collection({ routing_strategy: 'priority', members: ranked })
  expect(await servedBy(model, { messages: begin('p') })).toBe('fake/ok-a')
  expect(await servedBy(model, { messages: goOn('p') })).toBe('fake/ok-a')
})

test('a conversation that fails over stays where it was served', async () => {
  const model = await collection({
    routing_strategy: 'round_robin',
    members: ['fake/status-500', 'fake/ok-b', 'fake/ok-c'],
  })
  expect(await servedBy(model, { messages: begin('f') })).toBe('fake/ok-b')
  for (let turn = 0; turn < 3; turn++) {
    expect(await servedBy(model, { messages: goOn('f') })).toBe('fake/ok-b')
  }
})
