import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import {
  allowLoopback,
  startUpstream,
  upstreamEnvironment,
  type Upstream,
} from '../../harness/byok'
import { sendRequest, type Answer, type Json } from '../../harness/http'
import { findBooked, requestIdOf } from '../../harness/ledger'
import { upstreamSecret, type Customer } from '../../harness/server'
import { eventsOf, openFront, type Front } from '../../providers/translated/front'

/** The fields by which OpenRouter's clients choose a route. */

let front: Front
/** A customer's own provider. */
let own: Upstream

const providers = ['openai', 'mistral', 'groq', 'openrouter'] as const

beforeAll(async () => {
  own = startUpstream()
  front = await openFront((url) => ({
    ...upstreamEnvironment(own),
    ...Object.fromEntries(
      providers.flatMap((name) => [
        [`${name.toUpperCase()}_API_KEY`, upstreamSecret],
        [`${name.toUpperCase()}_BASE_URL`, `${url}/v1`],
      ]),
    ),
  }))
  await allowLoopback(front.gateway)
  for (const [id, input] of Object.entries(prices)) {
    const pricing = { input, output: 4 * input }
    await front.price(id, { context_length: 100_000, pricing })
  }
})
afterEach(() => front.reset())
afterAll(async () => {
  await front[Symbol.asyncDispose]()
  await own[Symbol.asyncDispose]()
})

const prices = {
  'openai/one': 2,
  'mistral/two': 1,
  'groq/three': 3,
  'openrouter/vendor/four': 1,
}

const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }
const message = { role: 'assistant', content: 'Hello.' }
const good = () => Response.json({ choices: [{ index: 0, message, finish_reason: 'stop' }], usage })
const streamed = () =>
  eventsOf(
    { choices: [{ index: 0, delta: { role: 'assistant', content: 'Hello.' } }] },
    { choices: [{ index: 0, delta: {}, finish_reason: 'stop' }] },
    '[DONE]',
  )
const busy = () => Response.json({ error: { message: 'Busy.' } }, { status: 503 })

/** Has models answer, and all others be busy. */
const onlyGood = (...names: string[]) => {
  front.answer = ({ body }) => {
    if (!names.includes(String(body['model']))) return busy()
    return body['stream'] === true ? streamed() : good()
  }
}

interface Asked {
  model: string | undefined
  fields: Json
  path?: string | undefined
}

const ask = ({ key }: Customer, { model, fields, path }: Asked): Promise<Answer> =>
  sendRequest(front.gateway, {
    path: path ?? '/v1/chat/completions',
    key,
    headers: { 'anthropic-version': '2023-06-01' },
    body: {
      ...(model !== undefined && { model }),
      ...(path === '/v1/responses'
        ? { input: 'Hi.' }
        : { messages: [{ role: 'user', content: 'Hi.' }], max_tokens: 50 }),
      ...fields,
    },
  })

/** A customer of its own, so that no member cools down from the test before. */
const asked = async (model: string | undefined, fields: Json, path?: string): Promise<Answer> => {
  const customer = await front.gateway.customer()
  return ask(customer, { model, fields, path })
}

const called = () => front.requests.map(({ body }) => body['model'])

describe('finding D8: models are tried in order', () => {
  const models = ['mistral/two', 'groq/three']

  test.each([
    ['/v1/chat/completions', {}],
    ['/v1/chat/completions', { stream: true }],
    ['/v1/messages', {}],
    ['/v1/messages', { stream: true }],
  ])('%s %j', async (path, fields) => {
    onlyGood('two', 'three')
    const answer = await asked('openai/one', { models, route: 'fallback', ...fields }, path)
    expect(answer.status).toBe(200)
    expect(called()).toEqual(['one', 'two'])
    expect(answer.text).toContain('mistral/two')
    for (const { body } of front.requests) {
      expect(body).not.toHaveProperty('models')
      expect(body).not.toHaveProperty('route')
    }
    expect(answer.headers.get('x-tollgate-omitted')).toBeNull()
  })

  test('at most as many as of any request', async () => {
    onlyGood('three')
    const answer = await asked('openai/one', { models })
    expect([answer.status, called()]).toEqual([503, ['one', 'two']])
  })

  test('the first one alone where it answers, and it need not be named twice', async () => {
    onlyGood('one', 'two')
    const answer = await asked('openai/one', { models: ['openai/one', ...models] })
    expect([answer.body['model'], called()]).toEqual(['openai/one', ['one']])
  })

  test('without a model of its own the first of the list is it', async () => {
    onlyGood('two')
    const answer = await asked(undefined, { models })
    expect([answer.status, answer.body['model']]).toEqual([200, 'mistral/two'])
  })

  test('unknown ones are passed over; if all are, the first is named', async () => {
    onlyGood('two')
    const answer = await asked('openai/unknown', { models })
    expect([answer.status, answer.body['model']]).toEqual([200, 'mistral/two'])
    const refused = await asked('openai/unknown', { models: ['mistral/unknown'] })
    expect([refused.status, refused.error.code]).toEqual([404, 'model_not_found'])
    expect(refused.error.message).toContain('openai/unknown')
  })

  test('each at its own price', async () => {
    onlyGood('two')
    const answer = await asked('openai/one', { models })
    // 10 tokens at 1 USD and 5 at 4 USD per million.
    const events = await findBooked(front.sql, [requestIdOf(answer)])
    expect(events.map(({ cost }) => cost).toSorted((a, b) => Number(a - b))).toEqual([0n, 30_000n])
  })

  test.each([
    [{ models: 'mistral/two' }, 'models'],
    [{ models: Array.from({ length: 11 }, () => 'mistral/two') }, 'models'],
    [{ models: [7] }, 'models.0'],
    [{ models, route: 'round' }, 'route'],
    [{ provider: { max_price: { prompt: 1e300 } } }, 'provider.max_price.prompt'],
  ])('%j is rejected by name', async (fields, param) => {
    const { status, error } = await asked('openai/one', fields)
    expect([status, error.code, error.param]).toEqual([400, 'invalid_request', param])
  })
})

describe('finding D8: provider is obeyed', () => {
  const models = ['mistral/two', 'groq/three']

  test.each<[Json, string[]]>([
    [{ only: ['mistral'] }, ['two']],
    [{ only: ['Mistral', 'groq/any'] }, ['two']],
    [{ ignore: ['openai', 'mistral'] }, ['three']],
    [{ order: ['groq'], allow_fallbacks: false }, ['three']],
    [{ order: ['groq'] }, ['one']],
    [{ max_price: { prompt: 1 } }, ['two']],
    [{ max_price: { completion: '4' } }, ['two']],
    [{ sort: { by: 'price', partition: 'none' } }, ['two']],
    [{ sort: 'price' }, ['one']],
    [{ allow_fallbacks: true }, ['one']],
  ])('%j', async (provider, expected) => {
    onlyGood('one', 'two', 'three')
    const answer = await asked('openai/one', { models, provider })
    expect([answer.status, called()]).toEqual([200, expected])
    for (const { body } of front.requests) expect(body).not.toHaveProperty('provider')
    expect(answer.headers.get('x-tollgate-omitted')).toBeNull()
  })

  test.each<[Json, string]>([
    [{ only: ['azure'] }, 'provider.only'],
    [{ ignore: ['openai'] }, 'provider.ignore'],
    [{ order: ['azure'], allow_fallbacks: false }, 'provider.order'],
    [{ max_price: { prompt: 0.5 } }, 'provider.max_price'],
    [{ only: 'openai' }, 'provider.only'],
  ])('%j accepts nothing, and the answer names it', async (provider, param) => {
    onlyGood('one')
    const { status, error } = await asked('openai/one', { provider })
    expect([status, error.code, error.param]).toEqual([400, 'invalid_request', param])
    expect(error.message).not.toContain('price;')
    expect(front.requests).toEqual([])
  })

  test.each([false, true])('unknown fields are named; streamed: %p', async (stream) => {
    onlyGood('one')
    const provider = {
      require_parameters: true,
      data_collection: 'deny',
      zdr: false,
      quantizations: [],
      sort: 'mood',
      max_price: { image: 1 },
    }
    const answer = await asked('openai/one', { provider, stream })
    expect(answer.status).toBe(200)
    expect(answer.headers.get('x-tollgate-omitted')?.split(', ')).toEqual([
      'provider.require_parameters',
      'provider.data_collection',
      'provider.sort',
      'provider.max_price.image',
    ])
  })

  test('OpenRouter receives it over a connection of the caller’s own, and not over the platform’s', async () => {
    onlyGood('vendor/four')
    const provider = { order: ['anthropic'], data_collection: 'deny' }
    const shared = await asked('openrouter/vendor/four', { provider })
    expect([shared.status, shared.headers.get('x-tollgate-omitted')]).toEqual([
      200,
      'provider.data_collection',
    ])
    expect(front.requests.at(-1)?.body).not.toHaveProperty('provider')
    const customer = await front.gateway.customer({ permissions: ['admin'] })
    const made = await sendRequest(front.gateway, {
      path: '/api/connections',
      key: customer.key,
      body: {
        name: 'Mine',
        provider: 'openrouter',
        api_key: 'sk-own-0123456789',
        endpoint_url: `${own.url}/v1`,
      },
    })
    expect(made.status).toBe(201)
    const obeyed = await ask(customer, { model: 'openrouter/vendor/four', fields: { provider } })
    expect([obeyed.status, obeyed.headers.get('x-tollgate-omitted')]).toEqual([200, null])
    expect(own.requests.at(-1)?.body).toMatchObject({ provider })
  })
})

test('finding D8: plugins are rejected with their own reason', async () => {
  const { status, error } = await asked('openai/one', { plugins: [{ id: 'web' }] })
  expect([status, error.param]).toEqual([400, 'plugins'])
  expect(error.message).toContain('OpenRouter')
})

test('finding D8: fields that OpenRouter’s clients send unasked do not reach OpenAI, and are named', async () => {
  onlyGood('one')
  const unasked = { transforms: ['middle-out'], session_id: 'a', include_reasoning: true }
  const answer = await asked('openai/one', unasked)
  expect(answer.status).toBe(200)
  for (const name of Object.keys(unasked)) {
    expect(front.requests.at(-1)?.body).not.toHaveProperty(name)
    expect(answer.headers.get('x-tollgate-omitted')).toContain(name)
  }
})
