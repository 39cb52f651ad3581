import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { messages, type Json } from '../harness/http'
import { priceOf } from '../harness/ledger'
import { upstreamSecret } from '../harness/server'
import {
  eventsOf,
  openFront,
  type Front,
  type ProviderRequest,
} from '../providers/translated/front'

/** Finding V16: an answer that ends in an error costs the same on every endpoint. */

let front: Front

beforeAll(async () => {
  front = await openFront((url) => ({
    OPENAI_API_KEY: upstreamSecret,
    OPENAI_BASE_URL: `${url}/v1`,
    ANTHROPIC_API_KEY: upstreamSecret,
    ANTHROPIC_BASE_URL: url,
    DEEPSEEK_API_KEY: upstreamSecret,
    DEEPSEEK_BASE_URL: `${url}/v1`,
    GEMINI_API_KEY: upstreamSecret,
    GOOGLE_BASE_URL: `${url}/v1beta`,
  }))
  for (const { model } of voices) await front.price(model)
})
afterEach(() => front.reset())
afterAll(() => front[Symbol.asyncDispose]())

const parameters = { type: 'object', properties: { q: { type: 'integer' } } }
const doors: [door: string, path: string, body: Json][] = [
  [
    'chat',
    '/v1/chat/completions',
    { messages, tools: [{ type: 'function', function: { name: 'look', parameters } }] },
  ],
  [
    'Messages',
    '/v1/messages',
    { messages, max_tokens: 100, tools: [{ name: 'look', input_schema: parameters }] },
  ],
  [
    'Responses',
    '/v1/responses',
    { input: 'Say something.', tools: [{ type: 'function', name: 'look', parameters }] },
  ],
]

/** A provider's stream: its opening, a text, and a failure that counts 64 and 1,500 tokens, as far as it can. */
interface Voice {
  dialect: string
  model: string
  opening: Json[]
  text: Json[]
  failure: Json[]
  /** The provider bills malformed answers, so that their prompt is charged. */
  billsAll?: true
}

const head = { id: 'resp_1', object: 'response', output: [] }
const error = { code: 'server_error', message: 'It broke.' }
const usage = {
  input_tokens: 64,
  output_tokens: 1500,
  output_tokens_details: { reasoning_tokens: 1500 },
  total_tokens: 1564,
}
const failedAs = (status: string) => [
  { type: `response.${status}`, response: { ...head, status, error, usage } },
]
const response: Voice = {
  dialect: 'Responses, failed',
  model: 'openai/gpt-6-astra',
  opening: [
    { type: 'response.created', response: { ...head, status: 'in_progress' } },
    { type: 'response.in_progress', response: { ...head, status: 'in_progress' } },
  ],
  text: [
    {
      type: 'response.output_item.added',
      output_index: 0,
      item: { type: 'message', id: 'msg_1', role: 'assistant', content: [] },
    },
    {
      type: 'response.output_text.delta',
      item_id: 'msg_1',
      output_index: 0,
      content_index: 0,
      delta: 'one two three',
    },
  ],
  failure: failedAs('failed'),
}

const chunkOf = (delta: Json, rest: Json = {}) => ({
  id: 'c',
  choices: [{ index: 0, delta, finish_reason: null, ...rest }],
})
const counts = { prompt_tokens: 64, completion_tokens: 1500, total_tokens: 1564 }
const chat: Voice = {
  dialect: 'chat, with an error',
  model: 'deepseek/deepseek-v4-flash',
  opening: [chunkOf({ role: 'assistant', content: '' })],
  text: [chunkOf({ content: 'one two three' })],
  failure: [{ error: { message: 'It broke.', code: 500 }, usage: counts }],
}

const voices: Voice[] = [
  response,
  { ...response, dialect: 'Responses, cancelled', failure: failedAs('cancelled') },
  {
    ...response,
    dialect: 'Responses, with an error',
    failure: [{ type: 'error', ...error, usage }],
  },
  chat,
  {
    ...chat,
    dialect: 'chat, finished as a failure',
    failure: [{ ...chunkOf({}, { finish_reason: 'error' }), usage: counts }],
  },
  {
    dialect: 'Messages',
    model: 'anthropic/claude-sonnet-4-6',
    opening: [
      {
        type: 'message_start',
        message: {
          id: 'msg_1',
          type: 'message',
          role: 'assistant',
          content: [],
          usage: { input_tokens: 3, output_tokens: 0 },
        },
      },
    ],
    text: [
      { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
      {
        type: 'content_block_delta',
        index: 0,
        delta: { type: 'text_delta', text: 'one two three' },
      },
    ],
    failure: [{ type: 'error', error: { type: 'api_error', message: 'It broke.' } }],
  },
  {
    dialect: 'Gemini, malformed',
    billsAll: true,
    model: 'google/gemini-2.5-flash',
    opening: [{ candidates: [{ content: { role: 'model', parts: [{ text: '' }] } }] }],
    text: [{ candidates: [{ content: { role: 'model', parts: [{ text: 'one two three' }] } }] }],
    failure: [
      {
        candidates: [{ content: { parts: [] }, finishReason: 'MALFORMED_FUNCTION_CALL' }],
        usageMetadata: { promptTokenCount: 64, candidatesTokenCount: 1500, totalTokenCount: 1564 },
      },
    ],
  },
]

/** As a stream, or as a whole answer where that is requested. */
function answering(events: Json[]) {
  return ({ body, path }: ProviderRequest): Response => {
    if (body['stream'] === true || path.includes(':stream')) return eventsOf(...events)
    const last = events.at(-1)
    return Response.json(last?.['response'] ?? { error: last?.['error'] ?? error, usage: counts })
  }
}

describe.each(voices)('finding V16: $dialect', (voice) => {
  const { model, opening, text, failure, billsAll = false } = voice

  test.each(doors)('a failure before any content costs the same by %s', async (...row) => {
    const [, path, body] = row
    front.answer = answering([...opening, ...failure])
    const stream = await front.post(path, { model, stream: true, ...body })
    const whole = await front.post(path, { model, ...body })
    expect(whole.status).toBeGreaterThanOrEqual(500)
    for (const answer of [stream, whole]) {
      const { cost, inputTokens, outputTokens } = await front.booked(answer)
      expect([cost, outputTokens]).toEqual([billsAll ? priceOf(inputTokens, 0) : 0n, 0])
    }
  })

  test('a failure behind a text costs the same by all: the text', async () => {
    front.answer = answering([...opening, ...text, ...failure])
    for (const [, path, body] of doors) {
      const answer = await front.post(path, { model, stream: true, ...body })
      expect(answer.text).toContain('one two three')
      const booked = await front.booked(answer)
      expect(booked).toMatchObject({ estimated: true, outputTokens: 3, writtenOff: 0n })
      expect(booked.inputTokens).toBeWithin(1, 200)
      expect(booked.cost).toBe(priceOf(booked.inputTokens, 3))
    }
  })
})
