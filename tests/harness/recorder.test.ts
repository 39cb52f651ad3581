import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import OpenAI from 'openai'
import { startRecorder } from './recorder'
import { startFakeProvider } from './upstreams/fake-provider'

const id = 'req_1'
const usual = { 'x-request-id': id }
const sse = {
  ...usual,
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
}

type Answer = () => Response
let next: Answer = () => new Response()
let server: ReturnType<typeof Bun.serve>
beforeAll(() => {
  server = Bun.serve({ hostname: '127.0.0.1', port: 0, fetch: () => next() })
})
afterAll(() => server.stop(true))

/** What the recorder says of one answer, without the request before it. */
async function judged(answer: Answer, body: Record<string, unknown> = {}): Promise<string[]> {
  next = answer
  const recorder = startRecorder()
  recorder.canary('sk-canary-9')
  const url = `http://127.0.0.1:${server.port}/v1/chat/completions`
  const init = { method: 'POST', body: JSON.stringify({ model: 'p/m', ...body }) }
  await (await recorder.fetch(url, init)).text().catch(() => '')
  const found = recorder
    .violations()
    .map((violation) => violation.replace('POST /v1/chat/completions: ', ''))
  if (found.length > 0) expect(() => recorder.verify()).toThrow('POST /v1/chat/completions')
  expect(() => recorder.verify()).not.toThrow()
  return found
}

const error = {
  type: 'gateway_error',
  code: 'connection_failed',
  message: 'Gone.',
  param: null,
  details: {},
}
const refusal =
  (status: number, body: unknown, headers = {}) =>
  () =>
    Response.json(body, { status, headers: { ...usual, ...headers } })

const chunk = (change: Record<string, unknown> = {}, choice: Record<string, unknown> = {}) => {
  const choices = [{ index: 0, delta: { content: 'a' }, finish_reason: null, ...choice }]
  const whole = {
    id: 'c1',
    object: 'chat.completion.chunk',
    created: 1,
    model: 'p/m',
    choices,
    ...change,
  }
  return `data: ${JSON.stringify(whole)}\n\n`
}
const finish = chunk({}, { delta: {}, finish_reason: 'stop' })
const usage = chunk({ choices: [], usage: { total_tokens: 1 } })
const done = 'data: [DONE]\n\n'
const tool = (...calls: object[]) => chunk({}, { delta: { tool_calls: calls } })
const toolHead = { index: 0, id: 'c', type: 'function', function: { name: 'f', arguments: '' } }
const result = (tool_call_id: string, content: string | null = 'Yes.') =>
  chunk({ tool_message: { role: 'tool', tool_call_id, content } }, { delta: {} })
const toolEnd = chunk({}, { delta: {}, finish_reason: 'tool_calls' })
const errorFrame = chunk({ error }, { delta: {}, finish_reason: 'error' })

const stream =
  (...parts: string[]) =>
  () =>
    new Response(parts.join(''), { headers: sse })

/** Without the length that a known body has, as a real stream is sent. */
const streamed =
  (...parts: string[]): Answer =>
  () =>
    new Response(
      new ReadableStream({
        start(controller) {
          for (const part of parts) controller.enqueue(new TextEncoder().encode(part))
          controller.close()
        },
      }),
      { headers: sse },
    )

describe('good answers', () => {
  const limited = {
    'x-ratelimit-limit': '5',
    'x-ratelimit-remaining': '0',
    'x-ratelimit-reset': String(Math.ceil(Date.now() / 1000) + 60),
    'retry-after': '1',
    'retry-after-ms': '400',
  }
  const internal = { ...error, type: 'server_error', code: 'internal_error', request_id: id }
  const limit = { limit: 5, window: 60, retry_after: 1 }
  const tooMany = {
    ...error,
    type: 'rate_limit_error',
    code: 'rate_limit_exceeded',
    details: limit,
  }
  const unrepeated = { 'www-authenticate': 'Bearer', 'x-should-retry': 'false' }
  const keyless = { ...error, type: 'authentication_error', code: 'missing_api_key' }
  test.each<[string, Answer, Record<string, unknown>]>([
    ['a whole answer', () => Response.json({ id: 1 }, { headers: usual }), {}],
    ['an error', refusal(502, { error }), {}],
    ['an internal error', refusal(500, { error: internal, request_id: id }), {}],
    ['a 401', refusal(401, { error: keyless }, unrepeated), {}],
    ['a 429', refusal(429, { error: tooMany }, limited), {}],
    ['a stream', streamed(': ping\n\n', chunk(), finish, done), {}],
    [
      'a stream with usage',
      streamed(chunk(), finish, usage, done),
      { stream_options: { include_usage: true } },
    ],
    ['a failed stream', streamed(chunk(), errorFrame), {}],
    [
      'a tool call',
      streamed(tool(toolHead), tool({ index: 0, function: { arguments: '{}' } }), toolEnd, done),
      {},
    ],
  ])('%s passes', async (_name, answer, body) => {
    expect(await judged(answer, body)).toEqual([])
  })
})

describe('each broken rule is found', () => {
  const bare = { ...error, details: undefined }
  test.each<[string, Answer]>([
    ['I13: status 405', refusal(405, { error })],
    ['I13: status 204', () => new Response(null, { status: 204, headers: usual })],
    ['I13: status 400 does not fit', refusal(400, { error })],
    ['C3: 401 without', refusal(401, { error }, { 'www-authenticate': 'Bearer' })],
    ['C3: 404 without', refusal(404, { error }, { 'x-should-retry': 'true' })],
    ['I13: error has the keys', refusal(502, { error: bare })],
    ['I13: error has the keys', refusal(502, { error: { ...error, extra: 1 } })],
    ['I13: the body has the keys', refusal(502, { error, request_id: id })],
    ['I13: error is no object', refusal(502, { message: 'x' })],
    ['I13: the code', refusal(502, { error: { ...error, code: 'oops' } })],
    ['I13: type', refusal(502, { error: { ...error, type: 'oops' } })],
    ['I13: message', refusal(502, { error: { ...error, message: {} } })],
    ['I13: param', refusal(502, { error: { ...error, param: 1 } })],
    ['I13: details lacks', refusal(502, { error: { ...error, code: 'provider_error' } })],
    [
      'I13: request_id',
      refusal(500, { error: { ...error, type: 'server_error', code: 'internal_error' } }),
    ],
    ['I13: the body is no JSON', () => new Response('<html>', { status: 502, headers: usual })],
    ['I13: R17', refusal(502, { error: { ...error, message: 'rate_limit hit' } })],
    ['I14: x-ratelimit-limit', refusal(429, { error })],
    ['I14: no Retry-After', refusal(429, { error })],
    ['I15: a canary', () => Response.json({ a: 'sk-canary-9' }, { headers: usual })],
    [
      'I15: a canary',
      () => Response.json({}, { headers: { ...usual, 'x-request-id': 'sk-canary-9' } }),
    ],
    ['I15: a canary', streamed(': sk-can', 'ary-9\n\n', chunk(), finish, done)],
    ['R22: no x-request-id', () => Response.json({})],
    [
      'headers: x-powered-by',
      () => Response.json({}, { headers: { ...usual, 'x-powered-by': 'a' } }),
    ],
    [
      'headers: set-cookie',
      () => Response.json({}, { headers: { ...usual, 'set-cookie': 'a=b' } }),
    ],
    ['headers: 401 without', refusal(401, { error })],
    [
      'headers: cache-control',
      () => new Response(chunk(), { headers: { ...sse, 'cache-control': 'no' } }),
    ],
    ['headers: content-length', stream(chunk(), finish, done)],
    ['I18: ended with neither', streamed(chunk(), finish)],
    ['I18: [DONE] before choice 0', streamed(chunk(), done)],
    ['I18: [DONE] after 0 of 1', streamed(done)],
    ['I18: data after the [DONE]', streamed(chunk(), finish, done, done)],
    ['I18: data after the error', streamed(chunk(), errorFrame, done)],
    ['I18: choice 0 goes on', streamed(finish, chunk(), done)],
    ['R4: a line', streamed('id: 1\n', chunk(), finish, done)],
    ['R4: a line', streamed('retry: 1\n\n', chunk(), finish, done)],
    ['R4: a line', streamed('event: ping\n', chunk(), finish, done)],
    ['R4: an empty data', streamed('data: \n\n', chunk(), finish, done)],
    ['R6: a comment inside', streamed(chunk().replace('\n\n', '\n: ping\n\n'), finish, done)],
    ['R6: ended inside', streamed(chunk(), finish, done, 'data: {"id"')],
    ['R7: a chunk with', streamed(chunk({ error: null }), finish, done)],
    ['R8: error has the keys', streamed(chunk(), chunk({ error: { message: 'x' } }))],
    ['R9: data that is no JSON', streamed('data: oops\n\n', finish, done)],
    ['R9: no id', streamed(chunk({ id: undefined }), finish, done)],
    ['R9: another id', streamed(chunk(), chunk({ id: 'c2' }), finish, done)],
    ['R9: object', streamed(chunk({ object: 'text_completion' }), finish, done)],
    ['R9: created', streamed(chunk({ created: '1' }), finish, done)],
    ['R9: no model', streamed(chunk({ model: undefined }), finish, done)],
    ['R9: no choices', streamed(chunk({ choices: undefined }), finish, done)],
    ['R9: the role', streamed(chunk({}, { delta: { role: 'assistant' } }).repeat(2), finish, done)],
    ['R10: usage on a chunk', streamed(chunk({ usage: {} }), finish, done)],
    ['R10: usage not requested', streamed(chunk(), finish, usage, done)],
    ['R10: a chunk after', streamed(chunk(), usage, finish, done)],
    ['R10: no choices and no usage', streamed(chunk({ choices: [] }), chunk(), finish, done)],
    ['R11: several', streamed(tool(toolHead, { ...toolHead, index: 1 }), toolEnd, done)],
    ['R11: a tool call without', streamed(tool({ ...toolHead, index: undefined }), toolEnd, done)],
    ['R11: id, type or name', streamed(tool(toolHead), tool(toolHead), toolEnd, done)],
    [
      'R11: the first delta',
      streamed(tool({ index: 0, function: { arguments: '' } }), toolEnd, done),
    ],
    ['R12: arguments', streamed(tool(toolHead), toolEnd, done)],
    ['R13: finish_reason eos', streamed(chunk(), chunk({}, { finish_reason: 'eos' }), done)],
    ['R13: tool calls, but', streamed(tool(toolHead), finish, done)],
    ['R11: a result of no call', streamed(chunk(), result('c'), finish, done)],
    ['R11: tool_message is', streamed(tool(toolHead), result('c', null), finish, done)],
    ['R13: all tool calls', streamed(tool(toolHead), result('c'), toolEnd, done)],
  ])('%s', async (rule, answer) => {
    expect((await judged(answer)).filter((violation) => violation.startsWith(rule))).not.toEqual([])
  })

  test('R10: requested usage that is missing', async () => {
    const options = { stream_options: { include_usage: true } }
    expect(await judged(streamed(chunk(), finish, done), options)).toEqual([
      'R10: no usage chunk before [DONE]',
    ])
  })

  test('I18: a cut, except one by the client', async () => {
    await using upstream = await startFakeProvider()
    const recorder = startRecorder()
    const ask = (model: string) =>
      recorder.fetch(`${upstream.url}/chat/completions`, {
        method: 'POST',
        body: JSON.stringify({ model, stream: true }),
      })
    const endings = () => recorder.violations().filter((violation) => violation.includes('I18'))
    await (await ask('stall-after-2')).body?.cancel()
    expect(endings()).toEqual([])
    await expect((await ask('close-after-2')).text()).rejects.toThrow()
    expect(endings()).toEqual([
      expect.stringContaining('POST /v1/chat/completions: I18: the connection was cut: '),
    ])
  })
})

test('the official client sees the same stream, piece by piece', async () => {
  const first = Promise.withResolvers<void>()
  next = () =>
    new Response(
      new ReadableStream({
        async start(controller) {
          controller.enqueue(new TextEncoder().encode(chunk()))
          // Only a client that already has the first chunk lets the rest come.
          await first.promise
          controller.enqueue(new TextEncoder().encode(finish + done))
          controller.close()
        },
      }),
      { headers: sse },
    )
  const recorder = startRecorder()
  const baseURL = `http://127.0.0.1:${server.port}/v1`
  const client = new OpenAI({ apiKey: 'k', baseURL, fetch: recorder.fetch })
  const messages = [{ role: 'user' as const, content: 'a' }]
  const chunks = await client.chat.completions.create({ model: 'p/m', messages, stream: true })
  const texts: unknown[] = []
  for await (const { choices } of chunks) {
    texts.push(choices[0]?.delta.content)
    first.resolve()
  }
  expect(texts).toEqual(['a', undefined])
  recorder.verify()
})
