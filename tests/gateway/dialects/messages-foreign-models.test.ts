import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { path } from './messages-fixture'
import { readMessage } from '../../../server/testing/protocols/messages-events'
import { isJson, type Json } from '../../providers/conformance/fixture'
import { isIdentifier } from '../../harness/account-identifiers'
import { sendRequest } from '../../harness/http'
import { upstreamSecret } from '../../harness/server'
import {
  eventsOf,
  openFront,
  type Front,
  type ProviderRequest,
} from '../../providers/translated/front'

const model = 'openai/small'
const claude = 'anthropic/claude-small'
const maxTokens = 16_384
const user = `user_${'0123456789abcdef'.repeat(4)}_account__session_00000000-0000-4000-8000-000000000000`
const long = `mcp__a_server_with_a_long_name__${'look_up_'.repeat(10)}`
const baseRequest = {
  model,
  max_tokens: 32_000,
  messages: [{ role: 'user', content: 'Look.' }],
  metadata: { user_id: user },
  tools: [
    { name: long, description: 'Looks.', input_schema: { type: 'object' } },
    { name: 'other', input_schema: { type: 'object', properties: { a: {} } } },
  ],
}

let front: Front

beforeAll(async () => {
  front = await openFront((url) => ({
    OPENAI_API_KEY: upstreamSecret,
    OPENAI_BASE_URL: url,
    ANTHROPIC_API_KEY: upstreamSecret,
    ANTHROPIC_BASE_URL: url,
  }))
  await front.price(model, { max_output_tokens: maxTokens, context_length: 128_000 })
  await front.price(claude, { max_output_tokens: maxTokens, context_length: 128_000 })
})
afterEach(() => front.reset())
afterAll(() => front[Symbol.asyncDispose]())

const post = (body: Json = {}) =>
  sendRequest(front.gateway, { path, key: front.customer.key, body: { ...baseRequest, ...body } })

const functionsIn = ({ body }: ProviderRequest): Json[] =>
  (Array.isArray(body['tools']) ? body['tools'] : []).flatMap((tool: unknown) =>
    isJson(tool) && isJson(tool['function']) ? [tool['function']] : [],
  )
const usage = { prompt_tokens: 10, completion_tokens: 5, total_tokens: 15 }

/** Says something, and calls the first of the tools that it was offered. */
function callFirst(request: ProviderRequest): Response {
  const name = functionsIn(request)[0]?.['name']
  const call = { index: 0, id: 'call_1', type: 'function', function: { name, arguments: '{}' } }
  const reply = { content: 'Wait.', tool_calls: [call] }
  const choice = { index: 0, finish_reason: 'tool_calls' }
  if (request.body['stream'] !== true) {
    return Response.json({
      choices: [{ ...choice, message: { role: 'assistant', ...reply } }],
      usage,
    })
  }
  return eventsOf(
    {
      choices: [{ index: 0, delta: { role: 'assistant', content: 'Wait.' }, finish_reason: null }],
    },
    { choices: [{ index: 0, delta: { tool_calls: [call] }, finish_reason: null }] },
    { choices: [{ ...choice, delta: {} }] },
    { choices: [], usage },
    '[DONE]',
  )
}

const content = [
  { type: 'text', text: 'Wait.' },
  { type: 'tool_use', id: 'call_1', name: long, input: {} },
]

describe('finding C4: requests of Claude Code for a model of OpenAI', () => {
  test('arrives as OpenAI takes it, and comes back under the names of the caller', async () => {
    front.answer = callFirst
    const answer = await post()
    expect(answer.status).toBe(200)
    expect(answer.body).toMatchObject({ content, stop_reason: 'tool_use' })
    expect(answer.headers.get('x-tollgate-max-tokens')).toBe(String(maxTokens))
    const [seen] = front.requests
    if (!seen) throw new Error('nothing was sent')
    expect(seen.body['max_tokens']).toBe(maxTokens)
    const sent: Json = JSON.parse(seen.text)
    expect(sent['user']).toSatisfy(isIdentifier)
    const [first, second] = functionsIn(seen)
    expect(first?.['name']).toMatch(/^[a-zA-Z0-9_-]{1,64}$/)
    expect(first?.['parameters']).toEqual({ type: 'object', properties: {} })
    expect(second).toEqual({
      name: 'other',
      parameters: { type: 'object', properties: { a: {} } },
    })
    expect(await front.booked(answer)).toMatchObject({ inputTokens: 10, outputTokens: 5 })
  })

  test('as a stream too', async () => {
    front.answer = callFirst
    const answer = await post({ stream: true })
    expect(answer.headers.get('x-tollgate-max-tokens')).toBe(String(maxTokens))
    expect(readMessage(answer.text)).toMatchObject({
      content,
      problems: [],
      stopReason: 'tool_use',
    })
    expect(front.requests[0]?.body['max_tokens']).toBe(maxTokens)
  })

  test('a history of such calls has the names that the tools have', async () => {
    front.answer = callFirst
    const result = { type: 'tool_result', tool_use_id: 'call_1', content: 'Sky.' }
    await post({
      messages: [
        ...baseRequest.messages,
        { role: 'assistant', content },
        { role: 'user', content: [result] },
      ],
    })
    const [seen] = front.requests
    if (!seen) throw new Error('nothing was sent')
    expect(seen.body['messages']).toMatchObject([
      {},
      { tool_calls: [{ function: { name: functionsIn(seen)[0]?.['name'] } }] },
      { role: 'tool' },
    ])
    expect(seen.text).not.toContain(long)
  })

  test('does not report a limit that the model supports', async () => {
    front.answer = callFirst
    const answer = await post({ max_tokens: maxTokens })
    expect(answer.headers.get('x-tollgate-max-tokens')).toBeNull()
    expect(front.requests[0]?.body['max_tokens']).toBe(maxTokens)
  })

  test('the hold is that of the called model', async () => {
    front.answer = callFirst
    const short = await front.gateway.customer({}, { credit: 0.08 })
    const { status, headers } = await sendRequest(front.gateway, {
      path,
      key: short.key,
      body: baseRequest,
    })
    // 16,384 tokens cost 0.066 USD, 32,000 would be 0.128.
    expect(status).toBe(200)
    expect(headers.get('x-tollgate-max-tokens')).toBe(String(maxTokens))
    expect(front.requests[0]?.body['max_tokens']).toBe(maxTokens)
  })

  test('a model of Anthropic is rejected without lowering: there it is a mistake', async () => {
    const answer = await post({ model: claude })
    expect(answer.status).toBe(400)
    expect(answer.text).toContain('at most 16384 tokens')
    expect(front.requests).toEqual([])
  })

  test('a chat completion is rejected as before', async () => {
    const { status, error } = await front.chat(model, { max_tokens: 32_000 })
    expect(status).toBe(400)
    expect(error.code).toBe('max_tokens_exceeded')
  })
})
