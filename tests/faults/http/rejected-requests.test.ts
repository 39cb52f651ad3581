import Anthropic, { AuthenticationError } from '@anthropic-ai/sdk'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import OpenAI, { BadRequestError } from 'openai'
import { startRig, upstreamSecret, type Customer, type Rig } from '../../harness/server'
import { sendRequest, messages, type Answer, type Json } from '../../harness/http'

let rig: Rig
let customer: Customer
let model: string
/** The model of each endpoint that writes no text, by its category. */
const readers = new Map<string, string>()

beforeAll(async () => {
  rig = await startRig()
  customer = await rig.gateway.customer()
  model = await rig.model('rejects')
  for (const category of ['embedding', 'moderation', 'rerank', 'speech', 'image']) {
    const fields = { category, upstream_model: 'rejects', max_output_tokens: null }
    readers.set(category, await rig.model(`rejects-${category}`, fields))
  }
})
afterAll(() => rig[Symbol.asyncDispose]())
afterEach(() => {
  rig.gateway.recorder.verify()
  expect(rig.gateway.output()).not.toContain(upstreamSecret)
})

interface Endpoint {
  path: string
  body: () => Json
  /** It has no streams. */
  isWhole?: boolean
}

const endpoints: Endpoint[] = [
  { path: '/v1/chat/completions', body: () => ({ model, messages }) },
  { path: '/v1/completions', body: () => ({ model, prompt: 'Say it.' }) },
  {
    path: '/v1/embeddings',
    isWhole: true,
    body: () => ({ model: readers.get('embedding'), input: 'A text.' }),
  },
  {
    path: '/v1/moderations',
    isWhole: true,
    body: () => ({ model: readers.get('moderation'), input: 'A text.' }),
  },
  {
    path: '/v1/rerank',
    isWhole: true,
    body: () => ({ model: readers.get('rerank'), query: 'A text?', documents: ['A text.'] }),
  },
  {
    path: '/v1/audio/speech',
    isWhole: true,
    body: () => ({ model: readers.get('speech'), input: 'A text.' }),
  },
  {
    path: '/v1/images/generations',
    isWhole: true,
    body: () => ({ model: readers.get('image'), prompt: 'A picture.' }),
  },
  { path: '/v1/messages', body: () => ({ model, messages, max_tokens: 9 }) },
  { path: '/v1/responses', body: () => ({ model, input: 'Say it.' }) },
]

/** What a provider answers, and what its words become. */
interface Rejection {
  status: number
  answered: object | string
  words: string
}

const rejections: [string, Rejection][] = [
  [
    'without a field',
    {
      status: 400,
      answered: { error: { message: 'No such tool.', param: null } },
      words: 'No such tool.',
    },
  ],
  [
    'by a field of its own',
    { status: 400, answered: { error: { message: 'No.', param: 'stream_options' } }, words: 'No.' },
  ],
  [
    'as FastAPI does',
    {
      status: 422,
      answered: { detail: [{ loc: ['body', 'top_k'], msg: 'Field required', input: 'secret' }] },
      words: 'top_k: Field required',
    },
  ],
  ['as text', { status: 413, answered: 'Payload Too Large', words: 'Payload Too Large' }],
  [
    'without a word',
    { status: 400, answered: '', words: 'fake rejected the request with status 400.' },
  ],
]

/** The message of an error, whatever format it is in. */
const messageOf = ({ error }: Answer): unknown => error.message

const serve = (status: number, body: object | string) =>
  rig.upstream.serve('rejects', {
    status,
    body: typeof body === 'string' ? body : JSON.stringify(body),
  })

describe.each(endpoints)('$path', ({ path, body, isWhole }) => {
  const post = (fields: Json = {}) =>
    sendRequest(rig.gateway, { path, key: customer.key, body: { ...body(), ...fields } })
  const streams = isWhole ? [{}] : [{}, { stream: true }]

  test.each(rejections)(
    'finding P9: a provider that rejects it %s: 400 in its words, called once',
    async (_how, { status, answered, words }) => {
      serve(status, answered)
      for (const fields of streams) {
        rig.upstream.reset()
        const answer = await post(fields)
        expect(answer.status).toBe(400)
        expect(answer.error.type).toBe('invalid_request_error')
        expect(messageOf(answer)).toBe(words)
        expect(answer.headers.get('x-should-retry')).toBe('false')
        expect(answer.headers.get('retry-after')).toBeNull()
        expect(rig.upstream.requests()).toHaveLength(1)
      }
    },
  )

  test('finding P4: a prompt too long is one in this format, with the provider’s maximum', async () => {
    const words = "This model's maximum prompt length is 4242 but the request contains 5353 tokens."
    serve(400, { code: 'Client specified an invalid argument', error: words })
    for (const fields of streams) {
      const answer = await post(fields)
      expect(answer.status).toBe(400)
      expect(answer.headers.get('x-should-retry')).toBe('false')
      if (path === '/v1/messages') {
        // By these words Claude Code compacts.
        expect(messageOf(answer)).toBe('prompt is too long: 5353 tokens > 4242 maximum')
        continue
      }
      expect(answer.error).toMatchObject({
        code: 'context_length_exceeded',
        details: { max_context: 4242, requested: 5353 },
      })
      expect(messageOf(answer)).toContain("This model's maximum context length is 4242 tokens.")
    }
  })

  test('finding C6: a refusal of the provider’s filter is a 400', async () => {
    serve(400, { error: { message: 'Output blocked by content filtering policy' } })
    for (const fields of streams) {
      const answer = await post(fields)
      expect(answer.status).toBe(400)
      expect(messageOf(answer)).toBe('Output blocked by content filtering policy')
    }
  })

  test('finding P8: no part of the connection’s key comes back', async () => {
    const message = 'Incorrect API key provided: sk-ab***yz. You can find it in your settings.'
    serve(401, { error: { message, code: 'invalid_api_key' } })
    const answer = await post()
    expect(answer.status).toBe(502)
    expect(answer.headers.get('x-should-retry')).toBe('false')
    expect(answer.text).not.toContain('***')
    expect(messageOf(answer)).toContain('[secret]')
  })

  test('finding C3: a wrong key of the caller’s is rejected once and for all', async () => {
    for (const key of ['sk-tg-wrong', 'sk-ant-nothing', '']) {
      const answer = await sendRequest(rig.gateway, { path, key, body: body() })
      expect(answer.status).toBe(401)
      expect(answer.headers.get('x-should-retry')).toBe('false')
      expect(String(messageOf(answer))).toMatch(/key/i)
    }
  })
})

/** Counts requests on their way to the gateway. */
function counting() {
  const seen: string[] = []
  const send = (input: string | URL | Request, init?: RequestInit) => {
    seen.push(input instanceof Request ? input.url : String(input))
    return rig.gateway.recorder.fetch(input, init)
  }
  return { seen, send }
}

describe('reactions of clients', () => {
  test('finding P4: Codex, which takes streams only, reads a prompt too long in one', async () => {
    const words = "This model's maximum prompt length is 4242 but the request contains 5353 tokens."
    serve(400, { error: words })
    const tooLong = [{ input: 'Say it.' }, { input: 'word '.repeat(400_000) }]
    for (const fields of tooLong) {
      const answer = await sendRequest(rig.gateway, {
        path: '/v1/responses',
        key: customer.key,
        body: { model, stream: true, ...fields },
        headers: { accept: 'text/event-stream' },
      })
      expect(answer.status).toBe(200)
      expect(answer.text).toContain('event: response.failed\n')
      expect(answer.text).toContain('"code":"context_length_exceeded"')
    }
  })

  test('finding P9: the OpenAI client sends one request', async () => {
    serve(422, { detail: [{ loc: ['body', 'top_k'], msg: 'Field required' }] })
    const { seen, send } = counting()
    const client = new OpenAI({
      apiKey: customer.key,
      baseURL: `${rig.gateway.url}/v1`,
      maxRetries: 5,
      fetch: send,
    })
    const pending = client.chat.completions.create({
      model,
      messages: [{ role: 'user', content: 'Hi' }],
    })
    expect(await pending.catch((thrown: unknown) => thrown)).toBeInstanceOf(BadRequestError)
    expect(seen).toHaveLength(1)
  })

  test('finding C3: the Anthropic client with a wrong key sends one request', async () => {
    const { seen, send } = counting()
    const client = new Anthropic({
      apiKey: 'sk-ant-wrong',
      baseURL: rig.gateway.url,
      maxRetries: 5,
      fetch: send,
    })
    const pending = client.messages.create({
      model,
      max_tokens: 9,
      messages: [{ role: 'user', content: 'Hi' }],
    })
    const thrown = await pending.catch((reason: unknown) => reason)
    expect(thrown).toBeInstanceOf(AuthenticationError)
    expect(seen).toHaveLength(1)
  })
})
