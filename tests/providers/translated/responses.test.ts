import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { Json } from '../conformance/fixture'
import { reportedCost } from '../../harness/ledger'
import { upstreamSecret } from '../../harness/server'
import { eventsOf, openFront, type Front } from './front'

let front: Front

beforeAll(async () => {
  front = await openFront((url) => ({
    OPENAI_API_KEY: upstreamSecret,
    OPENAI_BASE_URL: `${url}/v1`,
  }))
  for (const name of ['gpt-6-astra', 'gpt-6-sol', 'gpt-5.5-pro'])
    await front.price(`openai/${name}`)
})
afterEach(() => front.reset())
afterAll(() => front[Symbol.asyncDispose]())

const tools = [{ type: 'function', function: { name: 'weather', parameters: { type: 'object' } } }]
const usage = {
  input_tokens: 100,
  output_tokens: 30,
  output_tokens_details: { reasoning_tokens: 20 },
}
const call = { type: 'function_call', id: 'fc_1', call_id: 'call_1', name: 'weather' }
const args = '{"city":"Oslo"}'
const called = () =>
  eventsOf(
    { type: 'response.created', response: { id: 'resp_1', status: 'in_progress' } },
    { type: 'response.output_item.added', output_index: 0, item: { ...call, arguments: '' } },
    { type: 'response.function_call_arguments.delta', output_index: 0, delta: args },
    {
      type: 'response.output_item.done',
      output_index: 0,
      item: { ...call, arguments: args },
    },
    { type: 'response.completed', response: { id: 'resp_1', status: 'completed', usage } },
  )
const relayed = () =>
  Response.json({
    id: 'x',
    object: 'chat.completion',
    choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
    usage: { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 },
  })

test('tools that a model takes only as a Response go there, and are paid by its count', async () => {
  front.answer = called
  const answer = await front.chat('openai/gpt-6-astra', { tools, max_tokens: 500 })
  expect(answer.body).toMatchObject({
    object: 'chat.completion',
    model: 'openai/gpt-6-astra',
    choices: [
      {
        message: { tool_calls: [{ id: 'call_1', function: { name: 'weather', arguments: args } }] },
        finish_reason: 'tool_calls',
      },
    ],
    usage: { prompt_tokens: 100, completion_tokens: 30, total_tokens: 130 },
  })
  expect(reportedCost(answer)).toBe(220_000n)
  expect(await front.booked(answer)).toMatchObject({ cost: 220_000n, estimated: false })
  const [request] = front.requests
  expect(request?.path).toBe('/v1/responses')
  expect(request?.headers.get('authorization')).toBe(`Bearer ${upstreamSecret}`)
  expect(request?.body).toMatchObject({
    model: 'gpt-6-astra',
    max_output_tokens: 500,
    store: false,
    stream: true,
    tools: [{ type: 'function', name: 'weather' }],
  })
})

test('streamed, too', async () => {
  front.answer = called
  const answer = await front.stream('openai/gpt-6-astra', { tools })
  expect([answer.status, answer.isDone, front.requests[0]?.path]).toEqual([
    200,
    true,
    '/v1/responses',
  ])
  expect(answer.text).toContain('"finish_reason":"tool_calls"')
  expect(await front.booked(answer)).toMatchObject({ cost: 220_000n, estimated: false })
})

const message = { type: 'message', id: 'msg_1', role: 'assistant', content: [] }
const said = () =>
  eventsOf(
    { type: 'response.created', response: { id: 'resp_1', status: 'in_progress' } },
    { type: 'response.output_item.added', output_index: 0, item: message },
    { type: 'response.output_text.delta', output_index: 0, content_index: 0, delta: 'Hello' },
    { type: 'response.output_item.done', output_index: 0, item: message },
    { type: 'response.completed', response: { id: 'resp_1', status: 'completed', usage } },
  )

describe('finding D10: a model that takes Responses alone', () => {
  const name = 'openai/gpt-5.5-pro'
  const body = { model: name, max_tokens: 50 }

  test('answers chats without tools, whole and streamed, and is paid by its count', async () => {
    front.answer = said
    const whole = await front.chat(name, { reasoning_effort: 'low' })
    const text = { content: 'Hello' }
    expect(whole.body).toMatchObject({ choices: [{ message: text, finish_reason: 'stop' }] })
    const streamed = await front.stream(name)
    expect([streamed.status, streamed.isDone]).toEqual([200, true])
    expect(streamed.text).toContain('"content":"Hello"')
    for (const answer of [whole, streamed])
      expect(await front.booked(answer)).toMatchObject({ cost: 220_000n, estimated: false })
    expect(front.requests.map(({ path }) => path)).toEqual(['/v1/responses', '/v1/responses'])
    // It knows no effort below this one.
    expect(front.requests[0]?.body).toMatchObject({ reasoning: { effort: 'medium' } })
  })

  test('answers messages and legacy completions', async () => {
    front.answer = said
    const messages = [{ role: 'user', content: 'Hi' }]
    const message = await front.post('/v1/messages', { ...body, messages })
    expect(message.body).toMatchObject({ content: [{ type: 'text', text: 'Hello' }] })
    const completion = await front.post('/v1/completions', { ...body, prompt: 'Hi' })
    expect(completion.body).toMatchObject({ choices: [{ text: 'Hello' }] })
    expect(front.requests.map(({ path }) => path)).toEqual(['/v1/responses', '/v1/responses'])
  })
})

test('the older form of tools goes there as well', async () => {
  front.answer = called
  const functions = [{ name: 'weather', parameters: { type: 'object' } }]
  const { body } = await front.chat('openai/gpt-6-astra', { functions })
  expect(front.requests[0]?.path).toBe('/v1/responses')
  expect(body['choices']).toMatchObject([
    { message: { function_call: { name: 'weather' } }, finish_reason: 'function_call' },
  ])
})

test.each<[string, Json]>([
  ['gpt-6-astra', {}],
  ['gpt-6-sol', { tools, reasoning_effort: 'none' }],
])('%s with %j is relayed', async (name, fields) => {
  front.answer = relayed
  const answer = await front.chat(`openai/${name}`, fields)
  expect(front.requests.map(({ path }) => path)).toEqual(['/v1/chat/completions'])
  expect((await front.booked(answer)).cost).toBe(15_000n)
})

const thought = {
  type: 'reasoning.encrypted',
  id: 'rs_1',
  data: 'Z0FBQUFB',
  format: 'openai-responses-v1',
}
const history = [
  { role: 'user', content: 'How is Oslo?' },
  {
    role: 'assistant',
    content: null,
    tool_calls: [
      { id: 'call_1', type: 'function', function: { name: 'weather', arguments: args } },
    ],
    reasoning_details: [thought],
  },
  { role: 'tool', tool_call_id: 'call_1', content: 'wet' },
]
const refusal = () =>
  Response.json(
    {
      error: {
        message: 'The encrypted content could not be verified.',
        code: 'invalid_encrypted_content',
      },
    },
    { status: 400 },
  )

test('thoughts that are rejected are left out, once', async () => {
  front.answer = ({ text }) => (text.includes('Z0FBQUFB') ? refusal() : called())
  const answer = await front.chat('openai/gpt-6-astra', { tools, messages: history })
  expect(front.requests.map(({ text }) => text.includes('Z0FBQUFB'))).toEqual([true, false])
  expect(answer.status).toBe(200)
  expect((await front.booked(answer)).cost).toBe(220_000n)
})

test('at most once', async () => {
  front.answer = refusal
  const answer = await front.stream('openai/gpt-6-astra', { tools, messages: history })
  expect([front.requests.length, answer.status, answer.error['code']]).toEqual([
    2,
    400,
    'invalid_request',
  ])
})
