import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { brotliDecompressSync } from 'node:zlib'
import { type RawResponse, openRaw, rawRequest } from '../raw-client'
import { type FakeProvider, startFakeProvider } from './fake-provider'
import { eventually } from '../../../server/testing/eventually'

let upstream: FakeProvider
beforeAll(async () => {
  upstream = await startFakeProvider()
})
beforeEach(() => upstream.reset())
afterAll(() => upstream[Symbol.asyncDispose]())

const messages = [{ role: 'user', content: 'say hello please' }]
const streamed = { stream: true, stream_options: { include_usage: true } }

async function ask(model: string, body: Record<string, unknown> = streamed) {
  const client = await openRaw(upstream.url)
  const headers = { authorization: 'Bearer sk-canary-7' }
  const path = '/v1/chat/completions'
  await client.send(
    rawRequest({ path, headers, body: JSON.stringify({ model, messages, ...body }) }),
  )
  return client
}

async function answer(
  model: string,
  body?: Record<string, unknown>,
): Promise<RawResponse & { text: string }> {
  using client = await ask(model, body)
  const response = await client.response()
  return { ...response, text: response.body.toString() }
}

const chunks = (text: string) =>
  text
    .split('\n\n')
    .filter((block) => block.startsWith('data: {'))
    .map((block) => JSON.parse(block.slice(6)))

const contents = (text: string) =>
  chunks(text)
    .map((chunk) => chunk.choices[0]?.delta?.content ?? '')
    .join('')

const sent = () => upstream.requests()[0]?.chunksSent ?? 0

describe('timing', () => {
  test('rate sends as many words as requested', async () => {
    const { text } = await answer('rate-100', { ...streamed, max_tokens: 30 })
    expect(contents(text)).toEndWith('w30')
  })

  test('chunks-n, with and without a gap', async () => {
    expect(contents((await answer('chunks-50')).text).split(' ')).toHaveLength(50)
    expect(contents((await answer('chunks-5-gap-20')).text)).toBe('w1 w2 w3 w4 w5')
  })

  test('slow-first sends nothing, slow-event only the head', async () => {
    using first = await ask('slow-first-1000')
    using event = await ask('slow-event-1000')
    await event.until((received) => received.includes('\r\n\r\n'))
    expect(first.receivedBytes).toBe(0)
    expect(event.read().toString()).toEndWith('\r\n\r\n')
    expect((await first.response()).isWhole).toBe(true)
    expect((await event.response()).isWhole).toBe(true)
  })

  test.each([
    ['stall-after-2', ' w2'],
    ['stall-mid-line', '"index":0,'],
    ['stall-mid-char', '\u{FFFD}'],
    ['done-open', '[DONE]'],
    ['trickle-5', 'd'],
  ])('%s keeps the socket open after %j', async (model, last) => {
    using client = await ask(model)
    await client.until((received) => received.toString().includes(last))
    expect(client.read().toString()).toContain(last)
    // Nothing of it comes before a later answer.
    expect((await answer('ok')).isWhole).toBe(true)
    expect(await Promise.race([client.ended, Promise.resolve('open')])).toBe('open')
  })

  test('endless stops being sent when the client stops reading', async () => {
    using client = await ask('endless')
    await client.until((received) => received.length > 100_000)
    client.stopReading()
    let before = -1
    for (let looks = 0; looks < 100 && before !== sent(); looks++) {
      before = sent()
      // Others are answered meanwhile.
      for (let count = 0; count < 20; count++) await answer('ok')
    }
    expect(sent()).toBe(before)
  })
})

describe('endings', () => {
  test.each([
    ['close-after-2', 'fin', false],
    ['rst-after-2', 'reset', false],
  ] as const)('%s: a %s after two chunks', async (model, ending, isWhole) => {
    using client = await ask(model)
    const response = await client.response()
    expect(response.isWhole).toBe(isWhole)
    expect(response.body.toString()).toContain('w2')
    expect(response.body.toString()).not.toContain('w3')
    expect(await client.ended).toBe(ending)
  })

  test.each([
    ['end-after-2', false, 0],
    ['no-finish', false, 1],
    ['no-done', true, 0],
    ['done-twice', true, 2],
    ['data-after-done', true, 1],
  ])('%s: finish %p, [DONE] %d times', async (model, finish, dones) => {
    const { text, isWhole } = await answer(model)
    expect(isWhole).toBe(true)
    expect(text.includes('"finish_reason":"stop"')).toBe(finish)
    expect(text.split('[DONE]').length - 1).toBe(dones)
  })

  test('eof-after ends with the connection, and data-after-done goes on', async () => {
    using client = await ask('eof-after-2')
    expect(await client.ended).toBe('fin')
    expect(client.read().toString()).toContain('connection: close')
    expect((await answer('data-after-done')).text.split('[DONE]')[1]).toContain('late')
  })

  test('without a stream a body breaks in its middle', async () => {
    const { isWhole, text } = await answer('close-after-3', {})
    expect(isWhole).toBe(false)
    expect(text).toStartWith('{"id"')
  })
})

const header = ({ headers }: RawResponse, name: string) =>
  headers.find(([key]) => key === name)?.[1]

describe('bad bodies, statuses, errors inside 200', () => {
  test.each([
    ['html-200', 200, '<html>'],
    ['html-500', 500, '<html>'],
    ['empty-200', 200, ''],
    ['json-array', 200, '[{'],
    ['status-418', 418, 'server_error'],
    ['status-429', 429, 'rate_limit_exceeded'],
    ['503-storm', 503, 'server_error'],
    ['context-error', 400, 'context_length_exceeded'],
    ['field-error', 400, '"param":"temperature"'],
    ['canary-echo', 401, 'sk-canary-7'],
    ['err-first', 200, 'overloaded'],
    ['err-after-2', 200, 'w2'],
    ['finish-error', 200, '"finish_reason":"error"'],
    ['native-finish-error', 200, '"native_finish_reason":"error"'],
    ['finish-eos', 200, '"finish_reason":"eos"'],
    ['bad-json-2', 200, '{"id": oops'],
    ['half-json', 200, '[{"ind\n\n'],
  ])('%s: %d with %j', async (model, status, part) => {
    const response = await answer(model)
    expect(response.status).toBe(status)
    expect(response.text).toContain(part)
    expect(response.isWhole).toBe(true)
  })

  test('204, 302, 429 with a wait, wrong-type, json-big', async () => {
    using empty = await ask('204')
    expect((await empty.until((bytes) => bytes.includes('\r\n\r\n'))).toString()).toStartWith(
      'HTTP/1.1 204',
    )
    expect(header(await answer('302-http://10.0.0.1/a-b'), 'location')).toBe('http://10.0.0.1/a-b')
    expect(header(await answer('429-soon'), 'retry-after')).toBe('soon')
    expect(header(await answer('429'), 'retry-after')).toBeUndefined()
    expect(header(await answer('wrong-type'), 'content-type')).toBe('text/plain')
    expect((await answer('json-big-3')).body.length).toBeGreaterThan(3 << 20)
  })

  test('storm and flap change with time, from the first call of a model', async () => {
    expect((await answer('503-storm-1')).status).toBe(503)
    expect((await answer('flap-1')).status).toBe(200)
    await eventually(async () => (await answer('503-storm-1')).status === 200)
    await eventually(async () => (await answer('flap-1')).status === 503)
  })
})

const usages = async (model: string, body?: Record<string, unknown>) =>
  chunks((await answer(model, body)).text).map((chunk) => chunk.usage)

describe('usage', () => {
  test.each([
    ['usage-zero', 0],
    ['usage-negative', -5],
    ['usage-float', 12.5],
    ['usage-huge', 9e15],
    ['usage-string', '12'],
  ])('%s reports %p in both forms', async (model, count) => {
    expect(chunks((await answer(model)).text).at(-1).usage.completion_tokens).toBe(count)
    expect(JSON.parse((await answer(model, {})).text).usage.completion_tokens).toBe(count)
    expect(upstream.bill(model).completionTokens).toBe(20)
  })

  test('none, null, twice, cumulative, on the finish, more cached than sent, past the cap', async () => {
    expect((await usages('usage-none')).filter((usage) => usage !== undefined)).toEqual([])
    expect((await usages('usage-null')).at(-1)).toBeNull()
    expect((await usages('usage-twice')).filter(Boolean)).toHaveLength(2)
    const totals = (await usages('usage-cumulative')).map((usage) => usage.completion_tokens)
    expect(totals).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 10, 10])
    expect((await usages('usage-on-finish', { stream: true })).at(-1).completion_tokens).toBe(10)
    const cached = (await usages('usage-cached-gt-prompt')).at(-1)
    expect(cached.prompt_tokens_details.cached_tokens).toBeGreaterThan(cached.prompt_tokens)
    expect(
      (await usages('ignore-cap', { ...streamed, max_tokens: 5 })).at(-1).completion_tokens,
    ).toBe(10)
  })
})

const decode = (bytes: Uint8Array) => Buffer.from(Bun.gunzipSync(Uint8Array.from(bytes)))

describe('framing and encodings', () => {
  test.each(['crlf', 'cr', 'crlf-mix', 'bom', 'comments', 'no-space', 'multi-data', 'one-byte'])(
    '%s is the same stream in another spelling',
    async (model) => {
      const { text } = await answer(model)
      const unspelled = text
        .replace(/^\u{FEFF}/u, '')
        .replace(/\r\n?/g, '\n')
        .replace(/^:.*\n\n?/gm, '')
        .replace(/^data:(?! )/gm, 'data: ')
        .replace(/\ndata: +(?=["{}[\]])(?<!\n\ndata: +)/g, '')
      expect(contents(unspelled)).toBe('All is well at the fake provider today, thank you.')
      if (model !== 'one-byte') expect(text).not.toBe((await answer('ok')).text)
      expect(upstream.bill(model).completionTokens).toBe(10)
    },
  )

  test('one-byte writes bytes, line-2m a long line, line-endless one without end', async () => {
    const { text } = await answer('one-byte')
    const sent = upstream.requests()[0]?.chunksSent
    expect(sent).toBe(Buffer.byteLength(text))
    expect(
      Math.max(...(await answer('line-2m')).text.split('\n').map(({ length }) => length)),
    ).toBeGreaterThan(2 << 20)
    using client = await ask('line-endless')
    await client.until((received) => received.length > 5 << 20)
    expect(client.read().toString().split('\n\n')).toHaveLength(1)
  })

  test('gzip, deflate and br decode to the good answer, double needs two turns', async () => {
    const plain = contents((await answer('ok')).text)
    expect(contents(decode((await answer('gzip')).body).toString())).toBe(plain)
    expect(contents(decode(decode((await answer('double')).body)).toString())).toBe(plain)
    expect(contents(brotliDecompressSync((await answer('br')).body).toString())).toBe(plain)
    expect((await answer('gzip-badlen')).isWhole).toBe(false)
    let chain = (await answer('chain-10')).body
    for (let turn = 0; turn < 10; turn++) chain = decode(chain)
    expect(contents(chain.toString())).toBe(plain)
  })

  test('bomb-1g is a gibibyte of valid gzip in about a megabyte', async () => {
    const { body } = await answer('bomb-1g', {})
    expect(body.length).toBeLessThan(1.2e6)
    const file = new Blob([Uint8Array.from(body)])
      .stream()
      .pipeThrough(new DecompressionStream('gzip'))
    let size = 0
    for await (const piece of file) size += piece.length
    expect(size).toBe(2 ** 30)
  })
})
