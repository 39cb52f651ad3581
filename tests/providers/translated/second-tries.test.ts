import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { Json } from '../conformance/fixture'
import type { Answer } from '../../harness/http'
import { findBooked, requestIdOf } from '../../harness/ledger'
import { upstreamSecret } from '../../harness/server'
import { eventsOf, openFront, type Front } from './front'

let front: Front

const claude = 'anthropic/claude-sonnet-4-6'
const gemini = 'google/gemini-2.5-flash'

beforeAll(async () => {
  front = await openFront((url) => ({
    ANTHROPIC_API_KEY: upstreamSecret,
    ANTHROPIC_BASE_URL: `${url}/first`,
    GEMINI_API_KEY: upstreamSecret,
    GOOGLE_BASE_URL: `${url}/v1beta`,
    OPENAI_API_KEY: upstreamSecret,
    OPENAI_BASE_URL: `${url}/first`,
  }))
  for (const provider of ['anthropic', 'openai']) {
    await front.gateway.admin('POST', '/connections', {
      name: 'second',
      provider,
      api_key: upstreamSecret,
      endpoint_url: `${front.url}/second`,
      is_default: false,
      priority: 900,
    })
  }
  for (const model of [claude, gemini, 'openai/gpt-4.1']) await front.price(model)
})
afterEach(() => front.reset())
afterAll(() => front[Symbol.asyncDispose]())

const begin: Json[] = [
  {
    type: 'message_start',
    message: { id: 'm', content: [], usage: { input_tokens: 10, output_tokens: 1 } },
  },
  { type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } },
  { type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: 'Hi' } },
]
const whole: Json[] = [
  ...begin,
  { type: 'content_block_stop', index: 0 },
  { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
  { type: 'message_stop' },
]
const error = (type: string): Json => ({ type: 'error', error: { type, message: 'Not now.' } })

/** What the attempts of a request cost, the first one first. */
const costs = async (answer: Answer) =>
  (await findBooked(front.sql, [requestIdOf(answer)])).map(({ cost }) => cost)

describe('busy in place of the first event of a 200', () => {
  test.each([false, true])('goes to another candidate, stream: %p', async (stream) => {
    front.answer = ({ path }) =>
      eventsOf(...(path.startsWith('/first') ? [error('overloaded_error')] : whole))
    const answer = await front.chat(claude, { stream })
    expect(answer.status).toBe(200)
    expect(front.requests.map(({ path }) => path)).toEqual([
      '/first/v1/messages',
      '/second/v1/messages',
    ])
    expect(await costs(answer)).toEqual([0n, 18_000n])
  })

  test('relayed streams alike', async () => {
    const chunk = {
      id: 'x',
      choices: [{ index: 0, delta: { content: 'Hi' }, finish_reason: 'stop' }],
    }
    const usage = { prompt_tokens: 10, completion_tokens: 2, total_tokens: 12 }
    front.answer = ({ path }) =>
      path.startsWith('/first')
        ? eventsOf({ error: { message: 'Overloaded', type: 'overloaded' } })
        : eventsOf(chunk, { choices: [], usage }, '[DONE]')
    const answer = await front.stream('openai/gpt-4.1')
    expect([answer.status, answer.content, front.requests.length]).toEqual([200, 'Hi', 2])
    expect(await costs(answer)).toEqual([0n, 18_000n])
  })

  const unrepeatedCases: [string, Json[], number][] = [
    ['another error', [error('api_error')], 502],
    ['one after the answer had begun', [...begin, error('overloaded_error')], 200],
  ]
  test.each(unrepeatedCases)(
    '%s is not: it may have been billed',
    async (_what, events, status) => {
      front.answer = () => eventsOf(...events)
      const answer = await front.stream(claude)
      expect([answer.status, front.requests.length]).toEqual([status, 1])
    },
  )

  test('all busy gives 503', async () => {
    front.answer = () => eventsOf(error('overloaded_error'))
    const answer = await front.stream(claude)
    expect([answer.status, front.requests.length]).toEqual([503, 2])
    expect(answer.error['code']).toBe('provider_error')
  })
})

describe('an invalid request is not tried on another connection', () => {
  const refusals: [number, string, string][] = [
    [403, 'The prompt was blocked by our content filter.', 'invalid_request'],
    [500, 'the request exceeds the available context size', 'context_length_exceeded'],
    [400, 'No such tool.', 'invalid_request'],
  ]
  test.each(refusals)('%d: %s', async (status, message, code) => {
    front.answer = () => Response.json({ error: { message } }, { status })
    for (const stream of [false, true]) {
      front.requests.length = 0
      const answer = await front.chat('openai/gpt-4.1', { stream })
      expect([answer.status, answer.error['code'], front.requests.length]).toEqual([400, code, 1])
    }
  })

  test.each([401, 403, 404, 429])('%d of the connection is', async (status) => {
    front.answer = () => Response.json({ error: { message: 'No.' } }, { status })
    const answer = await front.chat('openai/gpt-4.1')
    expect([answer.error['code'], front.requests.length]).toEqual(['provider_error', 2])
  })
})

const calledBefore = [
  { role: 'user', content: 'How is Oslo?' },
  {
    role: 'assistant',
    content: null,
    tool_calls: [
      {
        id: 'call_1',
        type: 'function',
        function: { name: 'weather', arguments: '{}' },
        extra_content: { google: { thought_signature: 'b2xk' } },
      },
    ],
  },
  { role: 'tool', tool_call_id: 'call_1', content: 'wet' },
]
const tools = [{ type: 'function', function: { name: 'weather' } }]
const refused = (message: string) =>
  Response.json({ error: { code: 400, status: 'INVALID_ARGUMENT', message } }, { status: 400 })
const greeting = () =>
  eventsOf({
    candidates: [{ content: { parts: [{ text: 'Hi' }] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 2, totalTokenCount: 12 },
  })

describe('signatures of another model', () => {
  test.each([false, true])('are replaced once they are rejected, stream: %p', async (stream) => {
    front.answer = ({ text }) =>
      text.includes('b2xk') ? refused('Corrupted thought signature.') : greeting()
    const answer = await front.chat(gemini, { stream, tools, messages: calledBefore })
    expect(answer.status).toBe(200)
    expect(front.requests).toHaveLength(2)
    expect(front.requests[1]?.text).toContain('skip_thought_signature_validator')
    // One attempt as far as money goes: the other was never begun.
    expect((await front.booked(answer)).cost).toBe(18_000n)
  })

  test.each(['Corrupted thought signature.', 'Please be nice.'])(
    '%p again is the end of it',
    async (message) => {
      front.answer = () => refused(message)
      const answer = await front.chat(gemini, { tools, messages: calledBefore })
      expect(front.requests).toHaveLength(message.startsWith('C') ? 2 : 1)
      expect(answer.error['code']).toBe('invalid_request')
    },
  )
})
