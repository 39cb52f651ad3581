import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { args, byCustomCall, byOpenAi, call, thought } from './openai-answers'
import { upstreamSecret } from '../../harness/server'
import { eventsOf, openFront, type Front } from '../../providers/translated/front'

let front: Front

beforeAll(async () => {
  front = await openFront((url) => ({
    OPENAI_API_KEY: upstreamSecret,
    OPENAI_BASE_URL: `${url}/v1`,
  }))
  await front.price('openai/gpt-6-astra')
  await front.price('openai/gpt-4o')
})
afterEach(() => front.reset())
afterAll(() => front[Symbol.asyncDispose]())

describe('finding V18: a history that OpenAI rejects is repaired', () => {
  const well = { role: 'user', content: 'Well?' }
  const long = 'x'.repeat(410)

  test('content beside encrypted content, and ids above 64 characters', async () => {
    front.answer = byCustomCall
    const content = [{ type: 'reasoning_text', text: 'Hm.' }]
    const said = [{ type: 'output_text', text: 'Hm.', annotations: [] }]
    const message = { type: 'message', id: `msg_${long}`, role: 'assistant', content: said }
    const input = [
      { ...thought, content },
      message,
      { ...call, id: `fc_${long}`, arguments: args },
      { type: 'function_call_output', id: long, call_id: 'call_1', output: 'wet' },
      well,
    ]
    const answer = await front.post('/v1/responses', { model: 'openai/gpt-6-astra', input })
    expect(answer.status).toBe(200)
    const { id: _messageId, ...bareMessage } = message
    const { id: _callId, ...bareCall } = call
    expect(front.requests.map(({ body }) => body['input'])).toEqual([
      [
        thought,
        bareMessage,
        { ...bareCall, arguments: args },
        { type: 'function_call_output', call_id: 'call_1', output: 'wet' },
        well,
      ],
    ])
  })

  const error = { code: 'invalid_encrypted_content', message: 'It could not be verified.' }
  const failed = { id: 'resp_1', object: 'response', status: 'failed', output: [], error }
  const refusals: [string, (isStream: boolean) => Response][] = [
    [
      'an error in place of the answer',
      (isStream) =>
        isStream
          ? eventsOf({ type: 'error', ...error, param: null, sequence_number: 0 })
          : Response.json({ error }),
    ],
    [
      'a nested error in place of the answer',
      (isStream) => {
        const nested = { error: { ...error, type: 'invalid_request_error' } }
        return isStream ? eventsOf({ type: 'error', ...nested }) : Response.json(nested)
      },
    ],
    [
      'a Response that failed',
      (isStream) =>
        isStream
          ? eventsOf({ type: 'response.failed', sequence_number: 0, response: failed })
          : Response.json(failed),
    ],
    ['a status of 400', () => Response.json({ error }, { status: 400 })],
    [
      'a status of 404 for an item that it does not keep',
      () => {
        const message = "Item with id 'rs_1' not found. Items are not persisted."
        return Response.json({ error: { message } }, { status: 404 })
      },
    ],
  ]

  describe.each(refusals)('thoughts that it refuses by %s', (_how, refusal) => {
    const history = [thought, { ...call, arguments: args }]
    const result = { type: 'function_call_output', call_id: 'call_1', output: 'wet' }

    test.each([false, true])('are left out, once, stream: %p', async (stream) => {
      front.answer = (seen) =>
        seen.text.includes('Z0FBQUFB') ? refusal(seen.body['stream'] === true) : byCustomCall(seen)
      const input = [...history, result, well]
      const answer = await front.post('/v1/responses', {
        model: 'openai/gpt-6-astra',
        input,
        stream,
      })
      expect(answer.status).toBe(200)
      expect(answer.text).toContain(stream ? 'response.completed' : '"completed"')
      expect(front.requests.map(({ text }) => text.includes('Z0FBQUFB'))).toEqual([true, false])
      expect(await front.booked(answer)).toMatchObject({ estimated: false })
    })

    test.each([false, true])('are left out of a chat, too, stream: %p', async (stream) => {
      front.answer = (seen) => (seen.text.includes('Z0FBQUFB') ? refusal(true) : byOpenAi(seen))
      const details = { format: 'openai-responses-v1', data: 'Z0FBQUFB' }
      const made = {
        id: 'call_1',
        type: 'function',
        function: { name: 'weather', arguments: args },
      }
      const answer = await front.chat('openai/gpt-6-astra', {
        stream,
        tools: [{ type: 'function', function: { name: 'weather' } }],
        messages: [
          well,
          {
            role: 'assistant',
            content: null,
            tool_calls: [made],
            reasoning_details: [{ type: 'reasoning.encrypted', ...details }],
          },
          { role: 'tool', tool_call_id: 'call_1', content: 'wet' },
        ],
      })
      expect(answer.status).toBe(200)
      expect(front.requests).toHaveLength(2)
      expect(front.requests[1]?.body['input']).not.toContainEqual(
        expect.objectContaining({ type: 'reasoning' }),
      )
    })
  })

  test('a refusal of thoughts that were never sent stands', async () => {
    front.answer = () => Response.json({ error })
    const answer = await front.post('/v1/responses', { model: 'openai/gpt-4o', input: 'Hi.' })
    expect([answer.status, front.requests.length]).toEqual([502, 1])
  })
})
