import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { claude, events, greeting, streamOf, usage } from './claude'
import { path as messagesPath } from './messages-fixture'
import { upstreamSecret } from '../../harness/server'
import { openFront, type Front } from '../../providers/translated/front'

const reasoning = 'openai/o3'

let front: Front

beforeAll(async () => {
  front = await openFront((url) => ({
    ANTHROPIC_API_KEY: upstreamSecret,
    ANTHROPIC_BASE_URL: url,
    OPENAI_API_KEY: upstreamSecret,
    OPENAI_BASE_URL: url,
  }))
  await front.price(claude)
  await front.price(reasoning)
})
afterEach(() => front.reset())
afterAll(() => front[Symbol.asyncDispose]())

const omitted = ({ status, headers }: { status: number; headers: Headers }) => [
  status,
  headers.get('x-tollgate-omitted'),
]
const answerClaude = () => {
  front.answer = ({ body }) =>
    body['stream'] === true ? streamOf(events) : Response.json({ ...greeting, usage })
}
const completion = {
  id: 'chatcmpl-1',
  object: 'chat.completion',
  created: 1,
  model: 'o3',
  choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
  usage: { prompt_tokens: 5, completion_tokens: 2, total_tokens: 7 },
}
const answerChat = () => {
  front.answer = () => Response.json(completion)
}

test('a chat for Anthropic names the fields that Anthropic does not have', async () => {
  answerClaude()
  const fields = { seed: 7, verbosity: 'low', presence_penalty: 0, store: false, min_p: 0.1 }
  expect(omitted(await front.chat(claude, fields))).toEqual([200, 'seed, verbosity, min_p'])
  expect(omitted(await front.chat(claude, { temperature: 0.5 }))).toEqual([200, null])
  const stream = await front.stream(claude, { logit_bias: { '1': 5 }, logprobs: true })
  expect(omitted(stream)).toEqual([200, 'logit_bias, logprobs'])
})

test.each(['moderation', 'web_search_options'])(
  'a chat for Anthropic with %s is rejected by name, and no provider is called',
  async (name) => {
    const answer = await front.chat(claude, { [name]: { model: 'a' } })
    expect(answer.status).toBe(400)
    expect(answer.body['error']).toMatchObject({ code: 'invalid_request', param: name })
    expect(front.requests).toEqual([])
  },
)

test('a chat for a reasoning model names the fields that such models reject, and a tier without a price', async () => {
  answerChat()
  const fields = { temperature: 0.5, top_p: 1, service_tier: 'priority' }
  expect(omitted(await front.chat(reasoning, fields))).toEqual([200, 'service_tier, temperature'])
  expect(front.requests.at(-1)?.body).not.toHaveProperty('service_tier')
  expect(omitted(await front.chat(reasoning))).toEqual([200, null])
})

test('a message for another model names fields as its caller knows them', async () => {
  answerChat()
  const body = {
    model: reasoning,
    max_tokens: 100,
    messages: [{ role: 'user', content: 'Hello' }],
    stop_sequences: ['END'],
    top_k: 5,
    tools: [
      { name: 'look', input_schema: { type: 'object' } },
      { type: 'web_search_20250305', name: 'web_search' },
    ],
  }
  const answer = await front.post(messagesPath, body)
  expect(omitted(answer)).toEqual([200, 'top_k, tools.1.type, stop_sequences'])
})

test.each([{ service_tier: 'standard_only' }, { speed: 'standard' }])(
  'a message for Anthropic at the ordinary price: %j is not named',
  async (fields) => {
    answerClaude()
    const messages = [{ role: 'user', content: 'Hello' }]
    const answer = await front.post(messagesPath, {
      model: claude,
      max_tokens: 100,
      messages,
      ...fields,
    })
    expect(omitted(answer)).toEqual([200, null])
  },
)

test.each([
  ['日本', '??'],
  ['a\nx-injected: 1', 'a?x-injected:?1'],
  ['one, two', 'one??two'],
  ['n'.repeat(5000), 'n'.repeat(100)],
])('a field whose name fits no header is still answered: %#', async (name, shown) => {
  answerClaude()
  expect(omitted(await front.chat(claude, { [name]: 1 }))).toEqual([200, shown])
  expect(omitted(await front.stream(claude, { [name]: 1 }))).toEqual([200, shown])
})

test.each(['constructor', 'toString', 'hasOwnProperty'])(
  'a field called %s is one like others',
  async (name) => {
    answerClaude()
    expect(omitted(await front.chat(claude, { [name]: 1 }))).toEqual([200, name])
    answerChat()
    const message = {
      model: reasoning,
      max_tokens: 100,
      messages: [{ role: 'user', content: 'Hello' }],
      [name]: 1,
    }
    expect(omitted(await front.post(messagesPath, message))).toEqual([200, name])
    const response = { model: claude, input: 'Hello', [name]: 1 }
    answerClaude()
    expect(omitted(await front.post('/v1/responses', response))).toEqual([200, null])
  },
)
