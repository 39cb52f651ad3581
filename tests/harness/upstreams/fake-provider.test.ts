import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { openRaw, rawRequest } from '../raw-client'
import { type FakeProvider, startFakeProvider } from './fake-provider'
import { eventually } from '../../../server/testing/eventually'

let upstream: FakeProvider
beforeAll(async () => {
  upstream = await startFakeProvider()
})
beforeEach(() => upstream.reset())
afterAll(() => upstream[Symbol.asyncDispose]())

const messages = [{ role: 'user' as const, content: 'say hello please' }]

function post(model: string, body: Record<string, unknown> = {}, path = '/chat/completions') {
  const headers = { 'content-type': 'application/json', authorization: 'Bearer sk-canary-7' }
  const init = { method: 'POST', headers, body: JSON.stringify({ model, messages, ...body }) }
  return fetch(upstream.url + path, { ...init, redirect: 'manual', keepalive: false })
}

/** `data` of every event, in order. */
async function events(model: string, body: Record<string, unknown> = {}): Promise<string[]> {
  const stream = { stream: true, stream_options: { include_usage: true }, ...body }
  const text = await (await post(model, stream)).text()
  return text
    .split('\n\n')
    .filter((block) => block.startsWith('data: '))
    .map((block) => block.slice(6))
}

const json = async (model: string, body: Record<string, unknown> = {}, path?: string) =>
  JSON.parse(await (await post(model, body, path)).text())

async function rawAnswer(model: string, body: Record<string, unknown> = {}) {
  const client = await openRaw(upstream.url)
  const path = '/v1/chat/completions'
  await client.send(rawRequest({ path, body: JSON.stringify({ model, messages, ...body }) }))
  return client
}

const client = () => new OpenAI({ apiKey: 'k', baseURL: upstream.url, maxRetries: 0 })

const embed = (encoding_format: 'float' | 'base64') =>
  client().embeddings.create({ model: 'ok', input: 'same', dimensions: 5, encoding_format })

describe('ok', () => {
  test('serves the official client, whole and streamed, with equal text and usage', async () => {
    const whole = await client().chat.completions.create({ model: 'ok', messages })
    const stream = client().chat.completions.stream({
      model: 'ok',
      messages,
      stream_options: { include_usage: true },
    })
    const streamed = await stream.finalChatCompletion()
    expect(streamed.choices[0]?.message.content).toBe(whole.choices[0]?.message.content ?? '')
    expect(streamed.usage).toEqual(whole.usage)
    expect(whole.usage).toMatchObject({ prompt_tokens: 3, completion_tokens: 10, total_tokens: 13 })
    expect(upstream.bill('ok')).toMatchObject({ promptTokens: 6, completionTokens: 20 })
    expect(upstream.bill('ok').usd).toBeCloseTo((6 * 1 + 20 * 4) / 1e6, 12)
  })

  test('honours n, max_tokens and logprobs', async () => {
    const body = await json('ok', { n: 3, max_tokens: 2, logprobs: true })
    expect(body.choices).toHaveLength(3)
    expect(body.choices[2]).toMatchObject({
      index: 2,
      finish_reason: 'length',
      message: { content: 'All is' },
      logprobs: { content: [{ token: 'All' }, { token: ' is' }] },
    })
    expect(body.usage.completion_tokens).toBe(6)
    const chunks = (await events('ok', { n: 2, max_tokens: 2 }))
      .slice(0, -2)
      .map((data) => JSON.parse(data))
    expect(chunks.map((chunk) => chunk.choices[0].index)).toEqual([0, 1, 0, 1, 0, 1, 0, 1])
  })

  test('calls a forced tool with arguments its schema accepts, and answers JSON on request', async () => {
    const parameters = { type: 'object', properties: { count: { type: 'integer' } } }
    const tools = [{ type: 'function' as const, function: { name: 'count', parameters } }]
    const body = await json('ok', { tools, tool_choice: 'required' })
    expect(body.choices[0]).toMatchObject({
      finish_reason: 'tool_calls',
      message: {
        content: null,
        tool_calls: [{ function: { name: 'count', arguments: '{"count":1}' } }],
      },
    })
    const schema = { name: 's', schema: { type: 'object', properties: { a: { enum: ['x'] } } } }
    const formatted = await json('ok', {
      response_format: { type: 'json_schema', json_schema: schema },
    })
    expect(JSON.parse(formatted.choices[0].message.content)).toEqual({ a: 'x' })
  })

  test('speaks legacy completions: a choice for each prompt', async () => {
    const body = await json('ok', { prompt: ['one', 'two words'] }, '/completions')
    expect(body).toMatchObject({ object: 'text_completion', usage: { prompt_tokens: 3 } })
    expect(body.choices.map(({ index }: { index: number }) => index)).toEqual([0, 1])
    const stream = await client().completions.create({ model: 'ok', prompt: 'one', stream: true })
    const texts = (await Array.fromAsync(stream)).map((chunk) => chunk.choices[0]?.text)
    expect(texts.join('')).toBe(body.choices[0].text)
  })

  test('embeds: floats or base64 of the same vector, of the requested dimensions', async () => {
    const floats = (await embed('float')).data[0]?.embedding ?? []
    const base64 = String((await embed('base64')).data[0]?.embedding)
    expect(floats).toHaveLength(5)
    expect([...new Float32Array(Uint8Array.from(Buffer.from(base64, 'base64')).buffer)]).toEqual(
      floats,
    )
    const input = [[1, 2, 3], [4]]
    const ignoring = await json(
      'embed-floats-only',
      { input, encoding_format: 'base64' },
      '/embeddings',
    )
    expect(ignoring.data[1].embedding).toBeArray()
    expect(ignoring.usage.prompt_tokens).toBeGreaterThan(0)
    expect((await post('embed-batch-2', { input: ['a', 'b'] }, '/embeddings')).status).toBe(200)
    expect((await post('embed-batch-2', { input: ['a', 'b', 'c'] }, '/embeddings')).status).toBe(
      400,
    )
  })
})

const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`

describe('bill and log', () => {
  test.each([
    ['bill-done', 0],
    ['bill-none', 0],
    ['bill-sent', 5],
    ['bill-full', 10],
  ])('a stream cut after 5 chunks with +%s is billed %d tokens', async (billing, tokens) => {
    const model = `close-after-5+${billing}`
    await post(model, { stream: true })
      .then((response) => response.text())
      .catch(() => undefined)
    expect(upstream.bill(model).completionTokens).toBe(tokens)
    expect(upstream.bill('ok').attempts).toEqual([])
  })

  test('a request is logged with its hash, its cap, its closing side and its sent bytes', async () => {
    const client = await rawAnswer('stall-after-2', { stream: true, max_tokens: 7 })
    await client.until((bytes) => bytes.includes('w2'))
    expect(upstream.openSockets()).toBeGreaterThan(0)
    client.close()
    await eventually(() => upstream.requests()[0]?.closedBy === 'peer')
    const [seen] = upstream.requests()
    expect(seen).toMatchObject({
      method: 'POST',
      path: '/v1/chat/completions',
      cap: 7,
      chunksSent: 3,
    })
    expect(seen?.bodySha256).toHaveLength(64)
    expect(seen?.closedAt).toBeGreaterThanOrEqual(seen?.connectedAt ?? Infinity)
  })

  test('is steered over HTTP too', async () => {
    const root = upstream.url.replace('/v1', '')
    const headers = { 'x-tollgate-attempt': 'mine', 'content-type': 'application/json' }
    const body = JSON.stringify({ model: 'ok', messages })
    await fetch(`${upstream.url}/chat/completions`, { method: 'POST', headers, body })
    const get = async (path: string) => JSON.parse(await (await fetch(root + path)).text())
    expect((await get('/__bill?model=ok')).attempts).toMatchObject([
      { attempt: 'mine', completionTokens: 10 },
    ])
    expect(await get('/__seen')).toMatchObject([{ attempt: 'mine' }])
    const models = [{ id: 'dear', input: 1000, output: 1 }]
    await fetch(`${root}/__catalogue`, { method: 'PUT', body: JSON.stringify({ models }) })
    expect((await get('/v1/models')).data).toMatchObject([{ id: 'dear', pricing: { input: 1000 } }])
    await fetch(`${root}/__seen`, { method: 'DELETE' })
    expect(upstream.requests()).toEqual([])
  })

  test('reads chunked bodies and pipelined requests', async () => {
    const client = await openRaw(upstream.url)
    const body = JSON.stringify({ model: 'ok', messages })
    const head =
      'POST /v1/chat/completions HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\n'
    const half = body.length >> 1
    await client.send(head + chunk(body.slice(0, half)))
    // Once this is answered, the half was read by itself.
    await (await fetch(`${upstream.url}/models`)).text()
    const next = 'GET /v1/models HTTP/1.1\r\nhost: a\r\n\r\n'
    await client.send(`${chunk(body.slice(half))}0\r\n\r\n${next}`)
    const bytes = await client.until((received) => received.includes('"list"'))
    expect(bytes.toString().match(/HTTP\/1.1 200/g)).toHaveLength(2)
    client.close()
  })

  test('replays a recording, cut at every byte', async () => {
    const body = 'data: {"é":1}\n\ndata: [DONE]\n\n'
    const cuts = Array.from({ length: 60 }, (_, index) => index)
    upstream.serve('rec-1', { status: 200, headers: { 'x-a': 'b' }, body, cuts })
    const response = await post('rec-1')
    expect(response.headers.get('x-a')).toBe('b')
    expect(await response.text()).toBe(body)
    expect(upstream.requests()[0]?.chunksSent).toBe(Buffer.byteLength(body))
  })

  test('rejects a name that is not a behaviour', async () => {
    expect((await post('no-such-thing')).status).toBe(404)
    expect((await post('toString')).status).toBe(404)
  })
})

describe('answers held until the test releases them', () => {
  test('the whole answer (held-first), or its first event (held-event)', async () => {
    const heads: string[] = []
    const asking = ['held-first', 'held-event'].map(async (model) => {
      const response = await post(model, { stream: true })
      heads.push(model)
      return response.text()
    })
    await eventually(() => upstream.heldCount() === 2 && heads.length > 0)
    expect(heads).toEqual(['held-event'])
    upstream.release()
    for (const text of await Promise.all(asking)) expect(text).toEndWith('data: [DONE]\n\n')
    expect(upstream.heldCount()).toBe(0)
  })

  test('waits no longer once its caller has gone', async () => {
    const client = await rawAnswer('held-first')
    await eventually(() => upstream.heldCount() === 1)
    client.close()
    await eventually(() => upstream.heldCount() === 0)
  })
})
