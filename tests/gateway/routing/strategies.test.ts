import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { createFixture, problem, type Fixture } from './fixture'
import type { Json } from '../../harness/http'
import { eventually } from '../../../server/testing/eventually'

let fixture: Fixture

/** Alike but for their prices; what the prices are shows in the names. */
const models = {
  'ok-a': { pricing: { input: 3, output: 3 } },
  'ok-b': { pricing: { input: 5, output: 0.5 } },
  'ok-c': { pricing: { input: 1, output: 9 } },
}
const members = ['fake/ok-a', 'fake/ok-b', 'fake/ok-c']

beforeAll(async () => {
  // No breaker closes by itself; each test has failing members of its own.
  fixture = await createFixture({ BREAKER_SECONDS: '6000' })
  for (const [name, fields] of Object.entries(models)) await fixture.rig.model(name, fields)
})
afterAll(() => fixture[Symbol.asyncDispose]())
beforeEach(() => fixture.rig.upstream.reset())

let made = 0
const collection = (fields: Json) => fixture.collection({ name: `c${++made}`, members, ...fields })

/** Which models served so many requests, one after the other. */
async function served(name: string, requests: number, fields: Json = {}): Promise<string[]> {
  const found: string[] = []
  for (let request = 0; request < requests; request++) {
    const { status, body, text } = await fixture.chat(name, fields)
    if (status !== 200) throw new Error(text)
    found.push(String(body['model']).slice('fake/ok-'.length))
  }
  return found
}

test('priority: always the first, whose number is the lowest', async () => {
  const ranked = members.map((model_id, at) => ({ model_id, priority: 10 - at }))
  const name = await collection({ members: ranked })
  expect(await served(name, 4)).toEqual(['c', 'c', 'c', 'c'])
})

test('round_robin: one after the other', async () => {
  const name = await collection({ routing_strategy: 'round_robin' })
  expect((await served(name, 7)).join('')).toBe('abcabca')
})

test('round_robin: a preview takes no turn', async () => {
  const name = await collection({ routing_strategy: 'round_robin' })
  await served(name, 1)
  for (let time = 0; time < 2; time++) {
    await fixture.api('POST /user/model-mappings/preview', { model: name })
  }
  expect((await served(name, 2)).join('')).toBe('bc')
})

test('lowest_cost: the cheapest of input and output together', async () => {
  const name = await collection({ routing_strategy: 'lowest_cost' })
  expect(await served(name, 3)).toEqual(['b', 'b', 'b'])
})

test('random and weighted: every eligible member is drawn in the end', async () => {
  const name = await collection({ routing_strategy: 'random' })
  // A member is missing in one of 10^10 runs.
  expect(new Set(await served(name, 60))).toEqual(new Set(['a', 'b', 'c']))
  const weights = [1000, 1, 1]
  const weighted = await collection({
    routing_strategy: 'weighted',
    members: members.map((model_id, at) => ({ model_id, weight: weights[at] })),
  })
  const found = await served(weighted, 40)
  // 32 of 40 and more, but for one of 10^12 runs.
  expect(found.filter((model) => model === 'a').length).toBeGreaterThan(31)
})

test('least_used: fewest running requests, then fewest in the last minute', async () => {
  const slow = 'fake/stall-after-1'
  await fixture.rig.model('stall-after-1')
  const name = await collection({ routing_strategy: 'least_used', members: [slow, ...members] })
  const leaving = new AbortController()
  const first = fixture.rig.gateway.recorder
    .fetch(`${fixture.rig.gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${fixture.customer.key}`,
        'content-type': 'application/json',
      },
      body: JSON.stringify({
        model: name,
        stream: true,
        messages: [{ role: 'user', content: 'Hello' }],
      }),
      signal: leaving.signal,
    })
    .catch(() => undefined)
  await eventually(() => fixture.calledModels().includes('stall-after-1'))
  // While that runs, the others take turns by how often they were asked.
  expect((await served(name, 6)).join('')).toBe('abcabc')
  leaving.abort()
  await first
})

test('lowest_latency: members without measurements first, then the fastest', async () => {
  await fixture.rig.model('slow-first-5000')
  const name = await collection({
    routing_strategy: 'lowest_latency',
    members: ['fake/slow-first-5000', 'fake/ok-a'],
  })
  const first = await fixture.chat(name)
  const second = await fixture.chat(name)
  expect([first.body['model'], second.body['model']]).toEqual(['fake/slow-first-5000', 'fake/ok-a'])
  expect(await served(name, 4)).toEqual(['a', 'a', 'a', 'a'])
})

describe('a member that fails', () => {
  test('is followed by the next, at its own price, and cools down', async () => {
    await fixture.rig.model('status-503-x', { pricing: { input: 100, output: 100 } })
    const name = await collection({ members: ['fake/status-503-x', 'fake/ok-a'] })
    const answer = await fixture.chat(name)
    expect(answer.body['model']).toBe('fake/ok-a')
    const usage = JSON.parse(answer.text).usage
    const cost = (3 * (usage.prompt_tokens + usage.completion_tokens)) / 1e6
    expect(Number(answer.headers.get('x-tollgate-cost'))).toBeCloseTo(cost, 9)
    expect(fixture.calledModels()).toEqual(['status-503-x', 'ok-a'])
    await fixture.chat(name)
    expect(fixture.calledModels()).toEqual(['status-503-x', 'ok-a', 'ok-a'])
  })

  test('streams: the model that served is in every chunk', async () => {
    await fixture.rig.model('429-2')
    const name = await collection({ members: ['fake/429-2', 'fake/ok-a'] })
    const { text, isDone } = await fixture.stream(name)
    expect(isDone).toBeTrue()
    expect(text).toContain('"model":"fake/ok-a"')
    expect(text).not.toContain('"model":"fake/429-2"')
  })

  test('cools down only in the collection that failed, and all are used if all do', async () => {
    await fixture.rig.model('status-500-y')
    const name = await collection({ members: ['fake/status-500-y'] })
    const other = await collection({ members: ['fake/status-500-y', 'fake/ok-a'] })
    expect((await fixture.chat(name)).status).toBe(502)
    expect((await fixture.chat(name)).status).toBe(502)
    expect(fixture.calledModels()).toEqual(['status-500-y', 'status-500-y'])
    await fixture.chat(other)
    expect(fixture.calledModels()).toEqual(['status-500-y', 'status-500-y', 'status-500-y', 'ok-a'])
  })

  test('at most two attempts are made in all', async () => {
    const bad = ['status-500-1', 'status-500-2', 'status-500-3']
    for (const model of bad) await fixture.rig.model(model)
    const name = await collection({ members: [...bad.map((model) => `fake/${model}`), members[0]] })
    expect((await fixture.chat(name)).status).toBe(502)
    expect(fixture.calledModels()).toEqual(bad.slice(0, 2))
  })
})

const saying = (part: Json) => ({ messages: [{ role: 'user', content: [part] }] })

describe('only members able to serve the request are called', () => {
  const image = { type: 'image_url', image_url: { url: 'https://example.com/a.png' } }
  const sound = { type: 'input_audio', input_audio: { data: 'AAAA', format: 'wav' } }
  const tools = [{ type: 'function', function: { name: 'look', parameters: { type: 'object' } } }]
  const schema = { name: 'answer', schema: { type: 'object' } }
  const cases: { what: string; capability: string; fields: Json; param: string }[] = [
    { what: 'tools', capability: 'tools', fields: { tools }, param: 'tools' },
    { what: 'an image', capability: 'vision', fields: saying(image), param: 'messages.0.content' },
    { what: 'sound', capability: 'audio', fields: saying(sound), param: 'messages.0.content' },
    {
      what: 'a schema',
      capability: 'json_schema',
      fields: { response_format: { type: 'json_schema', json_schema: schema } },
      param: 'response_format',
    },
  ]
  test.each(cases)('$what', async ({ capability, fields, param }) => {
    const none = { tools: false, vision: false, audio: false, json_schema: false }
    await fixture.rig.model(`ok-no-${capability}`, { capabilities: none })
    await fixture.rig.model(`ok-has-${capability}`, {
      capabilities: { ...none, [capability]: true },
    })
    const without = `fake/ok-no-${capability}`
    const name = await collection({ members: [without, `fake/ok-has-${capability}`] })
    expect((await fixture.chat(name)).body['model']).toBe(without)
    expect((await fixture.chat(name, fields)).body['model']).toBe(`fake/ok-has-${capability}`)
    const lacking = await collection({ members: [without] })
    const refused = [400, 'invalid_request', param, 'unsupported_by_model']
    expect(problem(await fixture.chat(lacking, fields))).toEqual(refused)
  })

  test('context and output limit', async () => {
    await fixture.rig.model('ok-short', { context_length: 512, max_output_tokens: 64 })
    const short = await collection({ members: ['fake/ok-short'] })
    const both = await collection({ members: ['fake/ok-short', 'fake/ok-a'] })
    const long = { messages: [{ role: 'user', content: 'word '.repeat(2000) }] }
    expect((await fixture.chat(both)).body['model']).toBe('fake/ok-short')
    expect((await fixture.chat(both, long)).body['model']).toBe('fake/ok-a')
    expect((await fixture.chat(both, { max_tokens: 65 })).body['model']).toBe('fake/ok-a')
    const tooLong = [400, 'context_length_exceeded', 'messages']
    expect(problem(await fixture.chat(short, long))).toEqual(tooLong)
    const tooMuch = [400, 'max_tokens_exceeded', 'max_tokens']
    expect(problem(await fixture.chat(short, { max_tokens: 65 }))).toEqual(tooMuch)
  })

  test('the numbers of an embedding', async () => {
    const embedding = { category: 'embedding', pricing: { input: 1, output: 0 } }
    await fixture.rig.model('ok-narrow', { ...embedding, dimensions: 4 })
    await fixture.rig.model('ok-wide', { ...embedding, dimensions: 64 })
    const model = await collection({ members: ['fake/ok-narrow', 'fake/ok-wide'] })
    const embed = (dimensions: number) =>
      fixture.customer.client.embeddings.create({ model, input: 'Hello', dimensions })
    expect((await embed(4)).model).toBe('fake/ok-narrow')
    expect((await embed(8)).model).toBe('fake/ok-wide')
  })

  test('the kind of model', async () => {
    await fixture.rig.model('ok-embed', { category: 'embedding', pricing: { input: 1, output: 0 } })
    const name = await collection({ members: ['fake/ok-embed', 'fake/ok-a'] })
    expect((await fixture.chat(name)).body['model']).toBe('fake/ok-a')
    const embedded = await fixture.customer.client.embeddings.create({
      model: name,
      input: 'Hello',
    })
    expect(embedded.model).toBe('fake/ok-embed')
    const chats = await collection({ members: ['fake/ok-a'] })
    const refused = await fixture.customer.client.embeddings
      .create({ model: chats, input: 'Hello' })
      .catch((thrown: unknown) => thrown)
    expect(String(refused)).toContain('a model for chat')
  })
})

describe('no member that can serve', () => {
  beforeAll(async () => {
    const lonely = { key: 'lonely', name: 'Lonely', adapter: 'openai' }
    await fixture.rig.gateway.admin('POST', '/providers', lonely)
    const model = { id: 'lonely/ok', name: 'ok', category: 'chat', is_free: true }
    await fixture.rig.gateway.admin('POST', '/models', model)
  })
  const missing = [404, 'model_not_found', 'model']

  test('404 if the member is missing or disabled, or its model is', async () => {
    await fixture.rig.model('ok-leaving')
    const gone = await collection({ members: ['fake/ok-leaving'] })
    await fixture.rig.gateway.admin('PUT', '/models/fake/ok-leaving', { enabled: false })
    const off = members.map((model_id) => ({ model_id, enabled: false }))
    const names = [
      await collection({ members: [] }),
      await collection({ enabled: false }),
      await collection({ members: off }),
      gone,
    ]
    for (const name of names) expect(problem(await fixture.chat(name))).toEqual(missing)
  })

  test('403 where no member is available to the caller; one is enough', async () => {
    const denied = await collection({ members: ['lonely/ok'] })
    expect(problem(await fixture.chat(denied))).toEqual([403, 'model_access_denied', 'model'])
    const mixed = await collection({ members: ['lonely/ok', 'fake/ok-a'] })
    expect(await served(mixed, 1)).toEqual(['a'])
  })

  test('402 without credit; a free member serves accounts without credit', async () => {
    await fixture.rig.model('ok-gratis', { is_free: true })
    const poor = await fixture.rig.gateway.customer({}, { credit: 0 })
    const make = async (name: string, list: string[]) => {
      await fixture.api('POST /user/model-collections', { name, members: list }, poor)
      return fixture.chat(`collection/${name}`, {}, poor)
    }
    expect((await make('dear', members)).error.code).toBe('insufficient_credits')
    expect((await make('mixed', [...members, 'fake/ok-gratis'])).body['model']).toBe(
      'fake/ok-gratis',
    )
  })

  test('503 where all are failing', async () => {
    await fixture.rig.model('status-500-open')
    const name = await collection({ members: ['fake/status-500-open'] })
    const codes: (string | undefined)[] = []
    for (let request = 0; request < 30 && codes.at(-1) !== 'gateway_unavailable'; request++) {
      const { error, headers } = await fixture.chat(name)
      codes.push(error.code)
      if (error.code === 'gateway_unavailable') {
        expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
      }
    }
    expect(codes.at(-1)).toBe('gateway_unavailable')
  })
})
