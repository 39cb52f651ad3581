import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { z } from 'zod'
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
    if (request.method === 'GET') {
      const ids = ['gpt-9-nova', 'text-embedding-9', 'gpt-4o-mini', 'gpt-4.1', 'o4-mini-2025-04-16']
      return Response.json({ object: 'list', data: ids.map((id) => ({ id, object: 'model' })) })
    }
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
  test('lists exactly the models that the caller can call now', async () => {
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

  test('reports the lack of the platform’s connections', async () => {
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
  test('rejected by default, with the fix in the error', async () => {
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
  ])('%j is rejected', async (value, param) => {
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

  test('an unknown name is 404', async () => {
    expect((await chat('openai/gpt-4o-minimal')).status).toBe(404)
    expect((await chat('nobodys-handle/gpt-4o')).status).toBe(404)
  })
})

describe('finding D10: a model that the catalogue has not, but the provider’s own list', () => {
  const fresh = 'openai/gpt-9-nova'

  test('is unknown where models without a price are rejected', async () => {
    expect((await chat(fresh)).status).toBe(404)
  })

  test('is called at the operator’s price for such models, or for nothing', async () => {
    await change({ unpriced_models: { input: 10, output: 50 } })
    const priced = await chat(fresh)
    expect([priced.status, priced.body.model]).toEqual([200, fresh])
    expect(priced.headers.get('x-tollgate-cost')).toBe('0.015')
    expect(calledModels.at(-1)).toBe('gpt-9-nova')
    await change({ unpriced_models: 'free' })
    const free = await chat(fresh)
    expect([free.status, free.headers.get('x-tollgate-cost')]).toEqual([200, '0'])
  })

  test('is not called if neither has it, if it is disabled, or without platform connections', async () => {
    await change({ unpriced_models: 'free' })
    expect((await chat('openai/gpt-9-novella')).status).toBe(404)
    for (const name of ['gpt-4.1', 'o4-mini']) {
      const put = `PUT /models/openai/${name}`
      const disabled = await sendOperatorRequest(gateway, put, { enabled: false })
      expect([disabled.status, disabled.error]).toEqual([200, undefined])
    }
    expect((await chat('openai/gpt-4.1')).status).toBe(404)
    // The provider lists the alias, which the catalogue has not.
    expect((await chat('openai/o4-mini-2025-04-16')).status).toBe(404)
    await sendOperatorRequest(gateway, 'DELETE /models/openai/gpt-4.1')
    await sendOperatorRequest(gateway, 'DELETE /models/openai/o4-mini')
    await change({ platform_connections: false })
    expect((await chat(fresh)).status).toBe(404)
  })

  test('is not available to a key limited to others', async () => {
    await change({ unpriced_models: 'free' })
    const narrow = await gateway.customer({ allowed_models: ['openai/gpt-4o'] })
    const denied = await gateway.recorder.fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${narrow.key}`, 'content-type': 'application/json' },
      body: JSON.stringify({ model: fresh, messages: [{ role: 'user', content: 'Hi' }] }),
    })
    expect([403, 404]).toContain(denied.status)
  })
})

test('finding D9: a long prompt and a high output limit share the context of a dated model', async () => {
  const messages = [{ role: 'user', content: 'word '.repeat(170_000) }]
  const { status, body } = await call('/v1/chat/completions', {
    model: 'openai/gpt-5-2025-08-07',
    messages,
    max_completion_tokens: 120_000,
  })
  expect([status, body.error]).toEqual([200, undefined])
  // Too long by an estimate, too: a busy machine does not count in time.
  const long = await call('/v1/chat/completions', {
    model: 'openai/gpt-5-2025-08-07',
    messages: [{ role: 'user', content: 'word '.repeat(400_000) }],
    max_completion_tokens: 100,
  })
  expect([long.status, long.body.error.code]).toEqual([400, 'context_length_exceeded'])
  expect(long.body.error.details).toMatchObject({ max_context: 272_000 })
})

test('finding D5: every entry has the fields that the SDKs of OpenRouter require', async () => {
  const texts = z.array(z.string())
  const OpenRouterModel = z.object({
    id: z.string(),
    canonical_slug: z.string(),
    name: z.string(),
    created: z.int(),
    context_length: z.int().nullable(),
    architecture: z.object({
      input_modalities: texts,
      output_modalities: texts,
      modality: z.string().nullable(),
    }),
    pricing: z.object({ prompt: z.string().regex(/^[-\d.]+$/), completion: z.string() }),
    top_provider: z.object({
      is_moderated: z.boolean(),
      max_completion_tokens: z.int().nullable(),
    }),
    per_request_limits: z
      .object({ prompt_tokens: z.number(), completion_tokens: z.number() })
      .nullable(),
    supported_parameters: texts,
    supported_voices: texts.nullable(),
    default_parameters: z.object({}).nullable(),
    links: z.object({ details: z.string() }),
  })
  const List = z.object({
    data: z.array(OpenRouterModel),
    total_count: z.int(),
    links: z.object({ next: z.string().nullable() }),
  })
  for (const query of ['', '?all=true']) {
    const { data, total_count: count } = List.parse((await call(`/v1/models${query}`)).body)
    expect(data).toHaveLength(count)
    expect(data.find(({ id }) => id === 'openai/gpt-4o')).toMatchObject({
      context_length: 128_000,
      pricing: { prompt: '0.0000025', completion: '0.00001' },
      top_provider: { max_completion_tokens: 16_384 },
    })
  }
})
