import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { sendOperatorRequest, problem } from '../../harness/operator'
import { startRig, type Customer, type Gateway, type Rig } from '../../harness/server'

let rig: Rig
let gateway: Gateway
let customer: Customer
/** The models that the provider was asked for. */
const calledModels: string[] = []

const upstream = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: async (request) => {
    const { model } = JSON.parse(await request.text())
    calledModels.push(model)
    return Response.json({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1,
      model,
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 1000, completion_tokens: 100, total_tokens: 1100 },
    })
  },
})

beforeAll(async () => {
  rig = await startRig()
  gateway = rig.gateway
  customer = await gateway.customer()
  for (const provider of ['openai', 'openrouter', 'anthropic', 'deepseek']) {
    const endpoint_url = provider === 'openrouter' ? upstream.url.href : `${upstream.url.href}v1`
    const made = await sendOperatorRequest(gateway, 'POST /connections', {
      name: provider,
      provider,
      endpoint_url,
      api_key: 'sk-upstream',
    })
    expect([made.status, made.error]).toEqual([201, undefined])
  }
})
afterAll(async () => {
  gateway.recorder.verify()
  await upstream.stop(true)
  await rig[Symbol.asyncDispose]()
})
afterEach(async () => {
  await change({ unpriced_models: 'refuse', platform_connections: true })
})

async function change(settings: object) {
  const changed = await sendOperatorRequest(gateway, 'PUT /config', settings)
  expect([changed.status, changed.error]).toEqual([200, undefined])
}

async function call(path: string, body?: object) {
  const response = await gateway.recorder.fetch(`${gateway.url}${path}`, {
    headers: { authorization: `Bearer ${customer.key}`, 'content-type': 'application/json' },
    ...(body && { method: 'POST', body: JSON.stringify(body) }),
  })
  const { status, headers } = response
  return { status, headers, body: JSON.parse(await response.text()) }
}

const chat = (model: string) =>
  call('/v1/chat/completions', { model, messages: [{ role: 'user', content: 'Hello!' }] })

interface Listed {
  id: string
  unavailable?: { reason: string; message: string } | null
}

async function listed(query = ''): Promise<Map<string, Listed>> {
  const { body } = await call(`/v1/models${query}`)
  return new Map(body.data.map((model: Listed) => [model.id, model]))
}

// Priced by the model that it picks, so that no source has a price of it.
const unpriced = 'openrouter/openrouter/auto'

describe('finding P2: GET /v1/models', () => {
  test('lists what the caller can call now, and nothing else', async () => {
    const models = await listed()
    expect(models.has('openai/gpt-4o')).toBeTrue()
    expect(models.has('sandbox/echo')).toBeTrue()
    // No price, and no connection.
    expect(models.has(unpriced)).toBeFalse()
    expect(models.has('mistral/mistral-large-latest')).toBeFalse()
    expect(models.get('openai/gpt-4o')).not.toHaveProperty('unavailable')
  })

  test('?all=true lists the rest, with the reason', async () => {
    const models = await listed('?all=true')
    expect(models.get('openai/gpt-4o')?.unavailable).toBeNull()
    expect(models.get(unpriced)?.unavailable).toMatchObject({ reason: 'no_price' })
    const reason = models.get('mistral/mistral-large-latest')?.unavailable
    expect(reason).toMatchObject({ reason: 'no_connection' })
    expect(reason?.message).toContain('Mistral AI')
    expect(models.size).toBeGreaterThan(2000)
  })

  test('without the platform’s connections, says so', async () => {
    await change({ platform_connections: false })
    expect((await listed()).has('openai/gpt-4o')).toBeFalse()
    const models = await listed('?all=true')
    expect(models.get('openai/gpt-4o')?.unavailable).toMatchObject({
      reason: 'platform_connections_off',
    })
  })

  test('in the shape of Anthropic, lists the same', async () => {
    const response = await gateway.recorder.fetch(`${gateway.url}/v1/models?limit=1000`, {
      headers: { 'x-api-key': customer.key, 'anthropic-version': '2023-06-01' },
    })
    const { data } = JSON.parse(await response.text())
    const ids = data.map(({ id }: Listed) => id)
    expect(ids).toEqual([...(await listed()).keys()])
  })
})

test('GET /api/models?callable lists either half', async () => {
  const [yes, no] = await Promise.all(
    [true, false].map(async (callable) => {
      const { body } = await call(`/api/models?callable=${callable}&provider=openrouter&limit=100`)
      return body.models
    }),
  )
  expect(yes.every((model: { billing_mode: unknown }) => model.billing_mode !== null)).toBeTrue()
  expect(no.map(({ id }: Listed) => id)).toContain(unpriced)
})

describe('finding P2: models without a price are the operator’s decision', () => {
  test('refused by default, and the error says what to do', async () => {
    const { status, body } = await chat(unpriced)
    expect([status, body.error.code]).toEqual([403, 'model_access_denied'])
    expect(body.error.message).toContain('unpriced_models')
  })

  test('free: served, and nothing is charged', async () => {
    await change({ unpriced_models: 'free' })
    const { status, headers } = await chat(unpriced)
    expect([status, headers.get('x-tollgate-cost')]).toEqual([200, '0'])
    expect((await listed()).has(unpriced)).toBeTrue()
  })

  test('a price: served, and charged at it; models with a price keep theirs', async () => {
    await change({ unpriced_models: { input: 10, output: 50 } })
    const { status, headers } = await chat(unpriced)
    // 1,000 tokens at 10 and 100 at 50 USD a million.
    expect([status, headers.get('x-tollgate-cost')]).toEqual([200, '0.015'])
    expect((await chat('openai/gpt-4o')).headers.get('x-tollgate-cost')).toBe('0.0035')
  })

  test.each([
    ['never', 'unpriced_models'],
    [{ input: 0, output: 5 }, 'unpriced_models.input'],
    [{ input: 5 }, 'unpriced_models.output'],
  ])('%j is refused', async (value, param) => {
    const refused = await sendOperatorRequest(gateway, 'PUT /config', { unpriced_models: value })
    expect(refused.status).toBe(400)
    expect(String(problem(refused)[1])).toStartWith(param.split('.')[0] ?? '')
  })
})

describe('finding P2: other names of models', () => {
  test.each([
    ['openai/o4-mini-2025-04-16', 'o4-mini-2025-04-16', 'openai/o4-mini'],
    ['openai/gpt-4o-latest', 'gpt-4o', 'openai/gpt-4o'],
    ['deepseek/deepseek-chat', 'deepseek-flash', 'deepseek/deepseek-flash'],
    ['deepseek-ai/deepseek-v4-pro', 'deepseek-v4-pro', 'deepseek/deepseek-v4-pro'],
  ])('%s is sent as %s, and answered as %s', async (name, upstreamName, id) => {
    const { status, body, headers } = await chat(name)
    expect([status, body.model]).toEqual([200, id])
    expect(calledModels.at(-1)).toBe(upstreamName)
    expect(Number(headers.get('x-tollgate-cost'))).toBeGreaterThan(0)
    const { body: model } = await call(`/v1/models/${id}`)
    expect(model.id).toBe(id)
  })

  test('one that means nothing is 404', async () => {
    expect((await chat('openai/gpt-4o-minimal')).status).toBe(404)
    expect((await chat('nobodys-handle/gpt-4o')).status).toBe(404)
  })
})
