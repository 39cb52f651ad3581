import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { sendRequest, messages, type Answer, type Json } from '../../harness/http'
import { upstreamSecret, type Customer } from '../../harness/server'
import { eventually } from '../../../server/testing/eventually'
import { eventsOf, openFront, type Front } from '../../providers/translated/front'

let front: Front

beforeAll(async () => {
  front = await openFront((url) => ({
    OPENAI_API_KEY: upstreamSecret,
    OPENAI_BASE_URL: `${url}/v1`,
    ANTHROPIC_API_KEY: upstreamSecret,
    ANTHROPIC_BASE_URL: url,
    MISTRAL_API_KEY: upstreamSecret,
    MISTRAL_BASE_URL: `${url}/v1`,
  }))
  for (const id of ['openai/gpt-nine', 'anthropic/claude-nine', 'openai/twice', 'mistral/twice'])
    await front.price(id, { context_length: 100_000 })
  await front.gateway.admin('POST', '/models', {
    id: 'openai/vectors-nine',
    name: 'Vectors',
    category: 'embedding',
    pricing: { input: 1, output: 0 },
  })
  front.answer = ({ path, body }) => answerTo(path, body)
})
afterEach(() => front.reset())
afterAll(() => front[Symbol.asyncDispose]())

const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 }
const claude = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  content: [{ type: 'text', text: 'Hello.' }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 1, output_tokens: 1 },
}
const item = { id: 'msg_1', type: 'message', role: 'assistant', status: 'completed', content: [] }

function answerTo(path: string, { stream }: Json): Response {
  if (path.endsWith('/count_tokens')) return Response.json({ input_tokens: 1 })
  if (path.endsWith('/embeddings')) {
    const data = [{ object: 'embedding', index: 0, embedding: [1] }]
    return Response.json({ object: 'list', data, usage: { prompt_tokens: 1, total_tokens: 1 } })
  }
  if (path.endsWith('/responses')) {
    const counts = { input_tokens: 1, output_tokens: 1, total_tokens: 2 }
    return Response.json({ id: 'resp_1', status: 'completed', output: [item], usage: counts })
  }
  if (path.endsWith('/messages')) {
    if (!stream) return Response.json(claude)
    return eventsOf(
      { type: 'message_start', message: { ...claude, content: [] } },
      { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: claude.usage },
      { type: 'message_stop' },
    )
  }
  const message = { role: 'assistant', content: 'Hello.' }
  return Response.json({ choices: [{ index: 0, message, finish_reason: 'stop' }], usage })
}

const post = (path: string, body: Json, { key }: Customer = front.customer): Promise<Answer> =>
  sendRequest(front.gateway, { path, key, body, headers: { 'anthropic-version': '2023-06-01' } })

describe('finding D3: formats whose clients leave the provider out', () => {
  test.each([
    ['/v1/messages', 'claude-nine', { messages, max_tokens: 5 }, 'anthropic/claude-nine'],
    ['/v1/messages', 'claude-nine', { messages, max_tokens: 5, stream: true }, undefined],
    ['/v1/messages/count_tokens', 'claude-nine', { messages }, undefined],
    ['/v1/responses', 'gpt-nine', { input: 'Hi.' }, 'openai/gpt-nine'],
    ['/v1/responses', 'claude-nine', { input: 'Hi.' }, 'anthropic/claude-nine'],
  ])('%s: %s', async (...row) => {
    const [path, model, fields, served] = row
    const answer = await post(path, { model, ...fields })
    expect(answer.status).toBe(200)
    expect(front.requests.at(-1)?.body['model']).toBe(model)
    if (served) expect(answer.body['model']).toBe(served)
  })

  test('a name of two makers, or of no maker, stays invalid', async () => {
    for (const model of ['twice', 'nothing-like-it']) {
      const { status, error } = await post('/v1/responses', { model, input: 'Hi.' })
      expect([status, error.code, error.param]).toEqual([400, 'invalid_model', 'model'])
    }
    const { error } = await post('/v1/responses', { model: 'twice', input: 'Hi.' })
    expect(error.message).toEndWith('Did you mean "openai/twice" or "mistral/twice"?')
  })

  test('a mapping of the caller comes first', async () => {
    const customer = await front.gateway.customer({ permissions: ['admin'] })
    const mapping = { source_pattern: 'claude-nine', target_model: 'openai/gpt-nine' }
    const { status } = await post('/api/user/model-mappings', mapping, customer)
    expect(status).toBe(201)
    const answer = await post('/v1/responses', { model: 'claude-nine', input: 'Hi.' }, customer)
    expect(answer.body['model']).toBe('openai/gpt-nine')
  })

  test('a key that may call some models is held to them', async () => {
    const customer = await front.gateway.customer({ allowed_models: ['openai/*'] })
    const refused = await post('/v1/responses', { model: 'claude-nine', input: 'Hi.' }, customer)
    expect([refused.status, refused.error.code]).toEqual([403, 'model_access_denied'])
  })
})

/** The endpoints of the specification, with a name of each. */
const specified: [string, Json][] = [
  ['/v1/chat/completions', { model: 'gpt-nine', messages }],
  ['/v1/completions', { model: 'gpt-nine', prompt: 'Hi.' }],
  ['/v1/embeddings', { model: 'vectors-nine', input: 'Hi.' }],
]

const statusesOf = async (customer?: Customer) => {
  const answers = await Promise.all(specified.map(([path, body]) => post(path, body, customer)))
  return answers.map(({ status }) => status)
}

describe('finding D3: the endpoints of the specification', () => {
  test.each(specified)('%s rejects a bare name, and suggests the full id', async (path, body) => {
    // The same key has used the name where it is accepted.
    await post('/v1/responses', { model: 'gpt-nine', input: 'Hi.' })
    const { status, error } = await post(path, body)
    expect([status, error.code, error.param]).toEqual([400, 'invalid_model', 'model'])
    expect(error.message).toEndWith(`Did you mean "openai/${String(body['model'])}"?`)
  })

  test('accept it for an account that has chosen so, and for no other', async () => {
    const customer = await front.gateway.customer({ permissions: ['admin'] })
    const choose = (chosen: boolean | null) =>
      sendRequest(front.gateway, {
        method: 'PUT',
        path: '/api/account/settings',
        key: customer.key,
        body: { bare_model_names: chosen },
      })
    const chosen = await choose(true)
    expect([chosen.status, chosen.body['bare_model_names']]).toEqual([200, true])
    await eventually(async () => Bun.deepEquals(await statusesOf(customer), [200, 200, 200]))
    expect(await statusesOf()).toEqual([400, 400, 400])
    expect((await choose(null)).body['bare_model_names']).toBeNull()
    await eventually(async () => Bun.deepEquals(await statusesOf(customer), [400, 400, 400]))
  })

  test('accept it where the operator has chosen so, unless the account has chosen otherwise', async () => {
    const customer = await front.gateway.customer({ permissions: ['admin'] })
    await sendRequest(front.gateway, {
      method: 'PUT',
      path: '/api/account/settings',
      key: customer.key,
      body: { bare_model_names: false },
    })
    await front.gateway.admin('PUT', '/config', { bare_model_names: true })
    try {
      await eventually(async () => Bun.deepEquals(await statusesOf(), [200, 200, 200]))
      await eventually(async () => Bun.deepEquals(await statusesOf(customer), [400, 400, 400]))
    } finally {
      await front.gateway.admin('PUT', '/config', { bare_model_names: false })
    }
    await eventually(async () => Bun.deepEquals(await statusesOf(), [400, 400, 400]))
  })
})
