import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { openRaw, rawRequest } from '../raw-client'
import { type FakeProvider, startFakeProvider } from './fake-provider'

let upstream: FakeProvider
beforeAll(async () => {
  upstream = await startFakeProvider()
})
beforeEach(() => upstream.reset())
afterAll(() => upstream[Symbol.asyncDispose]())

const messages = [{ role: 'user', content: 'say hello please' }]
const path = '/v1/chat/completions'

const request = (model: string, body: Record<string, unknown>) =>
  rawRequest({
    path,
    headers: { 'x-mark': 'm' },
    body: JSON.stringify({ model, messages, ...body }),
  })

const next = rawRequest({ method: 'GET', path: '/v1/models' })
const nextAnswer = /HTTP\/1\.1 200[^{]*\{"object":"list".*/s

async function raw(model: string, body: Record<string, unknown> = {}): Promise<string> {
  using client = await openRaw(upstream.url)
  // What follows the body, a trailer or too many bytes, comes before the next answer.
  await client.send(request(model, body) + next)
  const received = await client.until((bytes) => bytes.includes('{"object":"list"'))
  return received.toString().replace(nextAnswer, '')
}

async function whole(model: string, body: Record<string, unknown> = {}) {
  using client = await openRaw(upstream.url)
  await client.send(request(model, body))
  return JSON.parse((await client.response()).body.toString())
}

async function chunks(model: string) {
  using client = await openRaw(upstream.url)
  await client.send(request(model, { stream: true, stream_options: { include_usage: true } }))
  const { body } = await client.response()
  const events = body.toString().split('\n\n')
  return events
    .filter((event) => event.startsWith('data: {'))
    .map((event) => JSON.parse(event.slice(6)))
}

const difference = async (model: string) => {
  const [head = '', body = ''] = (await raw(model)).split('\r\n\r\n')
  return Number(/content-length: (\d+)/.exec(head)?.[1]) - Buffer.byteLength(body)
}

describe('HTTP oddities', () => {
  test.each([
    ['early-hints', /^HTTP\/1.1 103 .*HTTP\/1.1 200/s],
    ['trailers', /0\r\nx-checksum: 1\r\nset-cookie: trailer=1\r\n\r\n$/],
    ['headers-100k', /x-large: a{100000}\r\n/],
    ['headers-200', /set-cookie: session=upstream.*x-noise-195: 195/s],
    ['split-header', /x-request-id: up\nset-cookie: header=1\r\n/],
  ])('%s', async (model, pattern) => {
    expect(await raw(model)).toMatch(pattern)
  })

  test('content-length is ten bytes short or long', async () => {
    expect(await difference('cl-short')).toBe(-10)
    expect(await difference('cl-long')).toBe(10)
  })

  test('stale-keepalive answers once, then closes when the next request arrives', async () => {
    using client = await openRaw(upstream.url)
    await client.send(request('stale-keepalive', {}))
    expect((await client.response()).isWhole).toBe(true)
    client.forget()
    await client.send(request('ok', {}))
    expect(await client.ended).toBe('fin')
    expect(client.receivedBytes).toBe(0)
    expect(upstream.requests()).toMatchObject([{ status: 200 }, { status: 0, closedBy: 'us' }])
  })
})

describe('shapes', () => {
  test('ids-vary, model-differs, created-string, error-null, role-each-chunk', async () => {
    const all = await chunks('ids-vary')
    expect(new Set(all.map(({ id }) => id)).size).toBe(all.length)
    expect((await whole('model-differs')).model).not.toBe('model-differs')
    expect((await whole('created-string')).created).toBeString()
    expect((await chunks('error-null')).every(({ error }) => error === null)).toBe(true)
    const roles = (await chunks('role-each-chunk')).map(({ choices }) => choices[0]?.delta.role)
    expect(roles.filter((role) => role === 'assistant')).toHaveLength(11)
    expect(await whole('unknown-fields')).toMatchObject({
      x_vendor: {},
      choices: [{ content_filter_results: {} }],
    })
  })

  test('reasoning thinks first, in the field named', async () => {
    const { choices, usage } = await whole('reasoning')
    expect(choices[0].message).toMatchObject({
      reasoning_content: expect.stringContaining('greets'),
      content: 'Hello to you.',
    })
    expect(usage.completion_tokens_details.reasoning_tokens).toBe(8)
    expect((await whole('reasoning-reasoning')).choices[0].message.reasoning).toContain('greets')
    expect((await whole('refusal')).choices[0].message).toMatchObject({
      content: null,
      refusal: expect.stringContaining('cannot'),
    })
  })

  test('echo-request and echo-headers return the received request', async () => {
    const body = JSON.parse(
      (await whole('echo-request', { seed: 7, max_tokens: 1 })).choices[0].message.content,
    )
    expect(body).toEqual({ model: 'echo-request', messages, seed: 7, max_tokens: 1 })
    const headers = JSON.parse((await whole('echo-headers')).choices[0].message.content)
    expect(headers).toMatchObject({ 'x-mark': 'm' })
    const pieces = (await chunks('echo-request')).map(
      ({ choices }) => choices[0]?.delta.content ?? '',
    )
    expect(JSON.parse(pieces.join(''))).toMatchObject({ model: 'echo-request', stream: true })
  })
})

const deltas = async (model: string) =>
  (await chunks(model)).flatMap(({ choices }) => choices[0]?.delta.tool_calls ?? [])

describe('tool calls', () => {
  test('fragments and interleaved calls add up by index', async () => {
    for (const [model, count] of [
      ['tool-fragments', 1],
      ['tool-interleaved', 2],
    ] as const) {
      const parts = await deltas(model)
      const calls = (await whole(model)).choices[0].message.tool_calls
      expect(calls).toHaveLength(count)
      for (const [index, call] of calls.entries()) {
        const own = parts.filter((part) => part.index === index)
        expect(own.map((part) => part.function.arguments).join('')).toBe(call.function.arguments)
        expect(JSON.parse(call.function.arguments)).toBeObject()
      }
    }
    expect((await deltas('tool-interleaved')).slice(0, 4).map(({ index }) => index)).toEqual([
      0, 1, 0, 1,
    ])
  })

  test('whole without index, without arguments, both in one chunk, ended with stop', async () => {
    const last = (await chunks('tool-whole-no-index')).at(-1)
    expect(last).toMatchObject({
      choices: [{ finish_reason: 'tool_calls' }],
      usage: { completion_tokens: 4 },
    })
    expect(last.choices[0].delta.tool_calls[0]).not.toHaveProperty('index')
    expect(last.choices[0].delta.tool_calls[0]).not.toHaveProperty('type')
    expect(await deltas('tool-no-args')).toMatchObject([
      { function: { name: 'get_time', arguments: '' } },
    ])
    expect((await chunks('tool-together'))[1].choices[0].delta.tool_calls).toHaveLength(2)
    const tools = [{ type: 'function', function: { name: 'a', parameters: {} } }]
    const { choices } = await whole('tool-finish-stop', { tools, tool_choice: 'required' })
    expect(choices[0]).toMatchObject({ finish_reason: 'stop', message: { tool_calls: [{}] } })
  })

  test('an agent calls its offered tool, and then repeats the result; a tag changes nothing', async () => {
    const tools = [{ type: 'function', function: { name: 'a', parameters: {} } }]
    const [called] = (await whole('tool-agent~somebody', { tools })).choices
    expect(called.message.tool_calls).toMatchObject([{ function: { name: 'a' } }])
    const result = { role: 'tool', tool_call_id: called.message.tool_calls[0].id, content: '18' }
    const turns = [...messages, called.message, result]
    const [final] = (await whole('tool-agent~somebody', { tools, messages: turns })).choices
    expect(final).toMatchObject({
      finish_reason: 'stop',
      message: { content: 'The tool said: 18' },
    })
    expect(upstream.requests().map(({ model }) => model)).toContain('tool-agent~somebody')
  })
})
