import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { args, byCustomCall, byOpenAi, call, patch, thought, usage } from './openai-answers'
import { eventsIn, lastResponse, typesOf } from './response-events'
import { jsonOf, type Json } from '../../providers/conformance/fixture'
import { hasFixtures, validate } from '../../harness/fixtures'
import { upstreamSecret } from '../../harness/server'
import { eventsOf, openFront, type Front } from '../../providers/translated/front'

let front: Front

beforeAll(async () => {
  front = await openFront((url) => ({
    OPENAI_API_KEY: upstreamSecret,
    OPENAI_BASE_URL: `${url}/v1`,
    ANTHROPIC_API_KEY: upstreamSecret,
    ANTHROPIC_BASE_URL: url,
  }))
  await front.price('openai/gpt-6-astra')
  await front.price('openai/gpt-4o')
  await front.price('openai/gpt-audio')
  await front.price('anthropic/claude-thinks', {
    category: 'chat',
    capabilities: { reasoning: true, tools: true },
  })
})
afterEach(() => {
  const requests = front.requests.filter(({ path }) => path === '/v1/responses')
  const problems = requests.flatMap(({ body }) =>
    hasFixtures ? validate('CreateResponse', body) : [],
  )
  front.reset()
  expect(problems).toEqual([])
})
afterAll(() => front[Symbol.asyncDispose]())

const weather = { type: 'function', name: 'weather', parameters: { type: 'object' }, strict: null }

const block = (index: number, start: Json, ...deltas: Json[]) => [
  { type: 'content_block_start', index, content_block: start },
  ...deltas.map((delta) => ({ type: 'content_block_delta', index, delta })),
  { type: 'content_block_stop', index },
]

/** The same of Anthropic's: a thought that it signed. */
const byAnthropic = () =>
  eventsOf(
    { type: 'message_start', message: { id: 'msg_1', usage: { ...usage, output_tokens: 1 } } },
    ...block(
      0,
      { type: 'thinking', thinking: '', signature: '' },
      { type: 'thinking_delta', thinking: 'Hm.' },
      { type: 'signature_delta', signature: 'c2lnbmVk' },
    ),
    ...block(
      1,
      { type: 'tool_use', id: 'call_1', name: 'weather', input: {} },
      { type: 'input_json_delta', partial_json: args },
    ),
    { type: 'message_delta', delta: { stop_reason: 'tool_use' }, usage: { output_tokens: 30 } },
    { type: 'message_stop' },
  )

const listOf = (value: unknown): Json[] => (Array.isArray(value) ? value.map(jsonOf) : [])

/** Asks, and again with all that was answered and the result of the call; the second request. */
async function askTwice(model: string, fields: Json = {}): Promise<Json> {
  const question = { role: 'user', content: 'How is Oslo?' }
  const baseRequest = {
    model,
    tools: [weather],
    include: ['reasoning.encrypted_content'],
    store: false,
    ...fields,
  }
  const first = await front.post('/v1/responses', { ...baseRequest, input: [question] })
  expect(first.status).toBe(200)
  const output = listOf(first.body['output'])
  expect(output.map(({ type }) => type)).toEqual(['reasoning', 'function_call'])
  const result = { type: 'function_call_output', call_id: 'call_1', output: 'wet' }
  const second = await front.post('/v1/responses', {
    ...baseRequest,
    input: [question, ...output, result],
  })
  expect(second.status).toBe(200)
  return front.requests.at(-1)?.body ?? {}
}

test('a thought that OpenAI encrypted goes back to it, before its call', async () => {
  front.answer = byOpenAi
  const sent = await askTwice('openai/gpt-6-astra')
  expect(sent['input']).toMatchObject([
    { role: 'user' },
    { type: 'reasoning', encrypted_content: 'Z0FBQUFB' },
    { type: 'function_call', call_id: 'call_1', arguments: args },
    { type: 'function_call_output', call_id: 'call_1', output: 'wet' },
  ])
})

test('a thought that Anthropic signed goes back to it, as it was', async () => {
  front.answer = byAnthropic
  const sent = await askTwice('anthropic/claude-thinks', { reasoning: { effort: 'low' } })
  expect(sent['messages']).toMatchObject([
    { role: 'user' },
    {
      role: 'assistant',
      content: [
        { type: 'thinking', thinking: 'Hm.', signature: 'c2lnbmVk' },
        { type: 'tool_use', id: 'call_1', name: 'weather', input: { city: 'Oslo' } },
      ],
    },
    { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call_1' }] },
  ])
})

test('sends an encrypted thought of OpenAI to OpenAI, and to no other provider', async () => {
  const input = [thought, { ...call, arguments: args }, { role: 'user', content: 'Well?' }]
  const tools = [weather]
  front.answer = byOpenAi
  await front.post('/v1/responses', { model: 'openai/gpt-6-astra', input, tools })
  expect(front.requests.at(-1)?.body['input']).toMatchObject([
    { encrypted_content: 'Z0FBQUFB' },
    {},
    {},
  ])
  front.answer = byAnthropic
  await front.post('/v1/responses', { model: 'anthropic/claude-thinks', input, tools })
  expect(front.requests.at(-1)?.path).toContain('/messages')
  expect(front.requests.at(-1)?.text).not.toContain('Z0FBQUFB')
})

test('a request in the format of OpenAI is sent on in that format, and is paid by its count', async () => {
  front.answer = byCustomCall
  const format = { type: 'grammar', syntax: 'lark', definition: 'start: /.+/' }
  const tool = { type: 'custom', name: 'write', format }
  const answer = await front.post('/v1/responses', {
    model: 'openai/gpt-4o',
    input: 'Write.',
    instructions: 'Be brief.',
    max_output_tokens: 500,
    temperature: 0.5,
    tools: [tool, { type: 'web_search' }],
  })
  const [request] = front.requests
  expect(request?.path).toBe('/v1/responses')
  expect(request?.body).toEqual({
    model: 'gpt-4o',
    input: 'Write.',
    instructions: 'Be brief.',
    max_output_tokens: 500,
    temperature: 0.5,
    tools: [tool],
    store: false,
  })
  expect(answer.headers.get('x-tollgate-omitted')).toBe('tools.1.type')
  expect(answer.body).toMatchObject({
    model: 'openai/gpt-4o',
    status: 'completed',
    output: [{ type: 'custom_tool_call', call_id: 'call_2', name: 'write', input: patch }],
    usage: { input_tokens: 100, output_tokens: 30, total_tokens: 130 },
  })
  expect(await front.booked(answer)).toMatchObject({ cost: 220_000n, estimated: false })
})

test('streamed, too', async () => {
  front.answer = byCustomCall
  const tools = [{ type: 'custom', name: 'write' }]
  const baseRequest = { model: 'openai/gpt-4o', input: 'Write.', tools, stream: true }
  const answer = await front.post('/v1/responses', baseRequest)
  const events = eventsIn(answer.text)
  expect(typesOf(events)).toEqual([
    'response.created',
    'response.output_item.added',
    'response.output_item.done',
    'response.completed',
  ])
  expect(lastResponse(events)).toMatchObject({ usage: { total_tokens: 130 } })
  expect(await front.booked(answer)).toMatchObject({ cost: 220_000n, estimated: false })
})

test('thoughts that OpenAI refuses are left out, once', async () => {
  const refusal = { message: 'It could not be verified.', code: 'invalid_encrypted_content' }
  front.answer = (seen) =>
    seen.text.includes('Z0FBQUFB')
      ? Response.json({ error: refusal }, { status: 400 })
      : byCustomCall(seen)
  const input = [thought, { ...call, arguments: args }, { role: 'user', content: 'Well?' }]
  const answer = await front.post('/v1/responses', { model: 'openai/gpt-6-astra', input })
  expect(front.requests.map(({ text }) => text.includes('Z0FBQUFB'))).toEqual([true, false])
  expect(answer.status).toBe(200)
})

test('a chat-only model is called as one', async () => {
  front.answer = () =>
    Response.json({
      choices: [{ index: 0, message: { role: 'assistant', content: 'Hi' }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 7, completion_tokens: 2, total_tokens: 9 },
    })
  const answer = await front.post('/v1/responses', { model: 'openai/gpt-audio', input: 'Hi.' })
  expect(front.requests.map(({ path }) => path)).toEqual(['/v1/chat/completions'])
  expect(answer.body).toMatchObject({ output: [{ content: [{ text: 'Hi' }] }] })
})
