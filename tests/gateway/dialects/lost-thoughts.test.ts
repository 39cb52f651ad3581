import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import type { Json } from '../../providers/conformance/fixture'
import { upstreamSecret } from '../../harness/server'
import {
  eventsOf,
  openFront,
  type Front,
  type ProviderRequest,
} from '../../providers/translated/front'

let front: Front

const made = { category: 'chat', capabilities: { reasoning: true, tools: true } }
const deepseek = 'deepseek/thinks'
const mistral = 'mistral/thinks'
const zai = 'zai/thinks'

beforeAll(async () => {
  front = await openFront((url) => ({
    DEEPSEEK_API_KEY: upstreamSecret,
    DEEPSEEK_BASE_URL: url,
    MISTRAL_API_KEY: upstreamSecret,
    MISTRAL_BASE_URL: url,
    ZAI_API_KEY: upstreamSecret,
    ZAI_BASE_URL: url,
  }))
  for (const model of [deepseek, mistral, zai]) await front.price(model, made)
})
afterEach(() => front.reset())
afterAll(() => front[Symbol.asyncDispose]())

const usage = { prompt_tokens: 9, completion_tokens: 1, total_tokens: 10 }

function yes({ body }: ProviderRequest): Response {
  if (body['stream'] !== true) {
    const message = { role: 'assistant', content: 'Yes.' }
    return Response.json({ choices: [{ index: 0, message, finish_reason: 'stop' }], usage })
  }
  const choice = { index: 0, delta: { content: 'Yes.' }, finish_reason: 'stop' }
  return eventsOf({ choices: [choice] }, { choices: [], usage }, '[DONE]')
}

/** As DeepSeek answers: a history without its thoughts is refused, unless the model is not to think. */
function missingThoughts(seen: ProviderRequest): Response {
  const { thinking } = seen.body
  if (JSON.stringify(thinking) === '{"type":"disabled"}') return yes(seen)
  const message = 'The `reasoning_content` in the thinking mode must be passed back to the API.'
  const error = { message, type: 'invalid_request_error', code: 'invalid_request_error' }
  return Response.json({ error }, { status: 400 })
}

const user = { role: 'user', content: 'Look.' }
const call = { id: 'call_1', type: 'function', function: { name: 'look', arguments: '{}' } }
const history = [
  user,
  { role: 'assistant', content: null, tool_calls: [call] },
  { role: 'tool', tool_call_id: 'call_1', content: '42' },
]
const parameters = { type: 'object', properties: {} }

const lost: [string, string, Json][] = [
  ['chat', '/v1/chat/completions', { messages: history, reasoning_effort: 'high' }],
  [
    'Responses',
    '/v1/responses',
    {
      input: [
        user,
        { type: 'function_call', call_id: 'call_1', name: 'look', arguments: '{}' },
        { type: 'function_call_output', call_id: 'call_1', output: '42' },
      ],
      reasoning: { effort: 'high' },
      tools: [{ type: 'function', name: 'look', parameters }],
    },
  ],
  [
    'Messages',
    '/v1/messages',
    {
      max_tokens: 100,
      messages: [
        user,
        {
          role: 'assistant',
          content: [{ type: 'tool_use', id: 'call_1', name: 'look', input: {} }],
        },
        {
          role: 'user',
          content: [{ type: 'tool_result', tool_use_id: 'call_1', content: '42' }],
        },
      ],
      output_config: { effort: 'high' },
    },
  ],
]

describe.each(lost)('finding V4: a client of %s that lost the thoughts', (_door, path, fields) => {
  test.each([false, true])('is answered without thinking, stream: %p', async (stream) => {
    front.answer = missingThoughts
    const answer = await front.post(path, { model: deepseek, ...fields, stream })
    expect([answer.status, answer.text]).toEqual([200, expect.stringContaining('Yes.')])
    expect(front.requests).toHaveLength(2)
    expect(front.requests[1]?.body).toMatchObject({ thinking: { type: 'disabled' } })
    expect(front.requests[1]?.body).not.toHaveProperty('reasoning_effort')
  })
})

test('finding V4: the thinking that is lost by it is named', async () => {
  front.answer = missingThoughts
  const fields = { messages: history, reasoning_effort: 'high' }
  const answer = await front.chat(deepseek, fields)
  expect(answer.headers.get('x-tollgate-omitted')).toBe('reasoning_effort')
  const stream = await front.chat(deepseek, { ...fields, stream: true })
  expect(stream.headers.get('x-tollgate-omitted')).toBe('reasoning_effort')
  const plain = await front.chat(deepseek, { messages: history })
  expect(plain.headers.get('x-tollgate-omitted')).toBeNull()
})

const refuse = (message: string) => () => Response.json({ error: { message } }, { status: 400 })

test('a refusal about something else stands, and so does a second one', async () => {
  front.answer = refuse('No such tool.')
  expect((await front.chat(deepseek, { messages: history })).status).toBe(400)
  expect(front.requests).toHaveLength(1)
  front.answer = refuse('reasoning_content is missing')
  expect((await front.chat(deepseek, { messages: history })).status).toBe(400)
  expect(front.requests).toHaveLength(3)
})

describe('finding Q9: thoughts that providers require back in chat', () => {
  test('Z.ai receives preserved thinking unchanged', async () => {
    front.answer = yes
    const thinking = { type: 'enabled', clear_thinking: false }
    const turn = { role: 'assistant', content: 'Hm.', reasoning_content: 'I think.' }
    const messages = [user, turn, user]
    expect((await front.chat(zai, { messages, thinking })).status).toBe(200)
    expect(front.requests[0]?.body).toMatchObject({ messages, thinking })
  })

  const part = { type: 'thinking', thinking: [{ type: 'text', text: 'I think.' }] }
  const words = { type: 'text', text: 'Hm.' }
  const turns: [string, Json][] = [
    ['its own parts', { role: 'assistant', content: [part, words] }],
    ['reasoning_content', { role: 'assistant', content: 'Hm.', reasoning_content: 'I think.' }],
  ]
  test.each(turns)('Mistral receives parts of its own, for %s', async (_what, turn) => {
    front.answer = yes
    expect((await front.chat(mistral, { messages: [user, turn, user] })).status).toBe(200)
    const sent = { role: 'assistant', content: [part, words] }
    expect(front.requests[0]?.body['messages']).toEqual([user, sent, user])
  })

  test('other providers receive the parts of Mistral as their own field', async () => {
    front.answer = yes
    const messages = [user, { role: 'assistant', content: [part, words] }, user]
    expect((await front.chat(zai, { messages })).status).toBe(200)
    const sent = { role: 'assistant', content: [words], reasoning_content: 'I think.' }
    expect(front.requests[0]?.body['messages']).toEqual([user, sent, user])
  })

  test('a model of Mistral that rejects them is called without, once', async () => {
    front.answer = (seen) =>
      seen.text.includes('I think.')
        ? Response.json({ message: 'This model takes no thinking chunks.' }, { status: 422 })
        : yes(seen)
    const messages = [user, { role: 'assistant', content: [part, words] }, user]
    expect((await front.chat(mistral, { messages })).status).toBe(200)
    const sent = { role: 'assistant', content: [words] }
    expect(front.requests[1]?.body['messages']).toEqual([user, sent, user])
  })
})
