import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { claude, doors, gemini, lookCall, model, openCallingFront, receive } from './called'
import { jsonOf, type Json } from '../../providers/conformance/fixture'
import { eventsOf, type Front } from '../../providers/translated/front'

let front: Front

beforeAll(async () => {
  front = await openCallingFront()
})
afterEach(() => front.reset())
afterAll(() => front[Symbol.asyncDispose]())

/** What these models say. */
const claudeSays = () =>
  eventsOf(
    { type: 'message_start', message: { id: 'm', content: [], usage: { input_tokens: 9 } } },
    { type: 'content_block_start', index: 0, content_block: { type: 'text', text: 'Hello.' } },
    { type: 'content_block_stop', index: 0 },
    { type: 'message_delta', delta: { stop_reason: 'end_turn' }, usage: { output_tokens: 2 } },
    { type: 'message_stop' },
  )
const geminiSays = () =>
  eventsOf({
    candidates: [{ content: { parts: [{ text: 'Hello.' }] }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 9, candidatesTokenCount: 2 },
  })

const round = (args: string): Json[] => [
  { role: 'assistant', content: null, tool_calls: [lookCall(args, 'call_0')] },
  { role: 'tool', tool_call_id: 'call_0', content: 'x' },
]

const item = (id: string) => ({
  type: 'function_call',
  call_id: id,
  name: 'look',
  arguments: '{}',
})

const output = (id: string) => ({ type: 'function_call_output', call_id: id, output: 'x' })

describe('a history that its provider would refuse', () => {
  const again = { role: 'user', content: 'Again.' }

  test('finding V7: repeated ids are others for Anthropic, each result with its call', async () => {
    front.answer = claudeSays
    const messages = [again, ...round('{"q":1}'), again, ...round('{"q":2}'), again]
    await front.chat(claude, { messages })
    const sent = JSON.stringify(front.requests[0]?.body['messages'])
    expect(sent.match(/"(?:tool_use_)?id":"[^"]*"/g)).toEqual([
      '"id":"call_0"',
      '"tool_use_id":"call_0"',
      '"id":"call_0__repeat__2"',
      '"tool_use_id":"call_0__repeat__2"',
    ])
  })

  test.each([
    [claude, claudeSays],
    [gemini, geminiSays],
  ] as const)('finding V13: broken arguments go on at %s, and are named', async (name, answer) => {
    front.answer = answer
    for (const args of ['{"q": "unfin', '[1]']) {
      const { status, headers } = await front.chat(name, {
        messages: [again, ...round(args), again],
      })
      expect(status).toBe(200)
      expect(headers.get('x-tollgate-omitted')).toContain(
        'messages.1.tool_calls.0.function.arguments',
      )
      const sent = JSON.stringify(front.requests.at(-1)?.body)
      expect(sent).toContain(JSON.stringify({ INVALID_JSON: args }))
    }
  })

  test('finding V13: in Responses they are named as the input', async () => {
    front.answer = claudeSays
    const { status, headers } = await front.post('/v1/responses', {
      model: claude,
      input: [
        { role: 'user', content: 'Look.' },
        { type: 'function_call', call_id: 'call_0', name: 'look', arguments: '{"q": "unfin' },
        { type: 'function_call_output', call_id: 'call_0', output: 'x' },
      ],
    })
    expect([status, headers.get('x-tollgate-omitted')]).toEqual([200, 'input'])
  })

  test('finding V24: interleaved results of Gemini’s parallel calls are one turn', async () => {
    front.answer = geminiSays
    const signed = 'a__thought__c2lnbmF0dXJl'
    const input = [
      { role: 'user', content: 'Look.' },
      item(signed),
      output(signed),
      item('b'),
      output('b'),
    ]
    const { status } = await front.post('/v1/responses', { model: gemini, input })
    expect(status).toBe(200)
    const { contents } = jsonOf(front.requests[0]?.body)
    expect(contents).toMatchObject([
      { role: 'user' },
      {
        role: 'model',
        parts: [{ functionCall: {}, thoughtSignature: 'c2lnbmF0dXJl' }, { functionCall: {} }],
      },
      { role: 'user', parts: [{ functionResponse: {} }, { functionResponse: {} }] },
    ])
    expect(JSON.stringify(contents)).not.toContain('skip_thought_signature_validator')
  })
})

describe('finding V2: a call that Groq could not read', () => {
  const failed_generation = '<function=look>{"q": 1</function>'
  const error = {
    message: 'Failed to call a function. Please adjust your prompt.',
    type: 'invalid_request_error',
    code: 'tool_use_failed',
    failed_generation,
  }

  test.each(doors)(
    '%s, %s: may be tried again, and its text is passed on',
    async (door, _how, stream) => {
      front.answer = () => Response.json({ error }, { status: 400 })
      const { answer } = await receive(front, door, { model, stream })
      expect([answer.status, answer.headers.get('x-should-retry')]).toEqual([502, null])
      expect(answer.text).toContain(JSON.stringify(failed_generation))
    },
  )

  test('also inside a stream', async () => {
    front.answer = () => eventsOf({ error: { ...error, status_code: 400 } })
    const { answer } = await receive(front, 'chat', { model, stream: true })
    expect(answer.error.details).toMatchObject({ failed_generation })
  })
})
