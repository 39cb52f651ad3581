import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { readMessage } from '../../../server/testing/protocols/messages-events'
import { messages, type Json } from '../../harness/http'
import { openRaw, rawRequest } from '../../harness/raw-client'
import { upstreamSecret } from '../../harness/server'
import { eventsOf, openFront, type Front } from '../../providers/translated/front'

let front: Front

beforeAll(async () => {
  front = await openFront((url) => ({
    DEEPSEEK_API_KEY: upstreamSecret,
    DEEPSEEK_BASE_URL: `${url}/v1`,
  }))
})
afterEach(() => front.reset())
afterAll(() => front[Symbol.asyncDispose]())

const model = 'deepseek/deepseek-v4-flash'
const path = '/v1/messages'
const counted = { prompt_tokens: 1234, completion_tokens: 7, total_tokens: 1241 }

/** Answers "Good day." and ends with these fields beside the finish reason. */
function answerWith(end: Json) {
  const content = 'Good day.'
  front.answer = ({ body }) => {
    const last = { index: 0, finish_reason: 'stop', ...end }
    if (body['stream'] !== true) {
      const choices = [{ ...last, message: { role: 'assistant', content } }]
      return Response.json({ id: 'c', object: 'chat.completion', choices, usage: counted })
    }
    const delta = { role: 'assistant', content }
    return eventsOf(
      { id: 'c', choices: [{ index: 0, delta, finish_reason: null }] },
      { id: 'c', choices: [{ ...last, delta: {} }] },
      { id: 'c', choices: [], usage: counted },
      '[DONE]',
    )
  }
}

const post = (fields: Json) => front.post(path, { model, messages, max_tokens: 100, ...fields })

const eventsIn = (text: string): Json[] =>
  [...text.matchAll(/^data: (.+)$/gm)].map(([, data = '']): Json => JSON.parse(data))

describe('an answer of a provider of the chat format', () => {
  test.each<[string, Json, string | null]>([
    ['vLLM', { stop_reason: 'END' }, 'END'],
    ['SGLang', { matched_stop: 'END' }, 'END'],
    ['vLLM, at a token', { stop_reason: 2 }, null],
    ['a server with a word of its own', { stop_reason: 'eos' }, null],
    ['a server without a field for it', {}, null],
  ])('finding V21: ends by the stop sequence that %s names', async (_server, end, sequence) => {
    answerWith(end)
    const stop_sequences = ['STOP', 'END']
    const expected = {
      stop_reason: sequence === null ? 'end_turn' : 'stop_sequence',
      stop_sequence: sequence,
    }
    expect((await post({ stop_sequences })).body).toMatchObject(expected)
    const stream = await post({ stop_sequences, stream: true })
    const delta = eventsIn(stream.text).find(({ type }) => type === 'message_delta')
    expect(delta).toMatchObject({ delta: expected })
    expect(readMessage(stream.text)).toMatchObject({
      stopReason: expected.stop_reason,
      problems: [],
    })
  })

  test('finding V21: begins with an estimate of its prompt, and ends with the count', async () => {
    answerWith({})
    const { text } = await post({ stream: true })
    const events = eventsIn(text)
    const [start] = events
    const [, promptTokens] = /"input_tokens":(\d+),/.exec(JSON.stringify(start)) ?? []
    expect(Number(promptTokens)).toBeGreaterThan(0)
    const end = events.find(({ type }) => type === 'message_delta')
    expect(end).toMatchObject({ usage: { input_tokens: 1234, output_tokens: 7 } })
  })
})

/** Sends the head of a request with a body above the limit, and nothing more. */
async function declareBody(route: string) {
  const { gateway, customer } = front
  const headers = {
    authorization: `Bearer ${customer.key}`,
    'content-type': 'application/json',
    'content-length': String(33 * 1024 * 1024),
  }
  using client = await openRaw(gateway.url)
  await client.send(rawRequest({ path: route, headers }))
  const { status, body } = await client.response()
  return { status, body: JSON.parse(body.toString()) }
}

describe('finding V21: a body above the limit', () => {
  test.each([path, `${path}/count_tokens`])('is 413 before it is read: %s', async (route) => {
    const { status, body } = await declareBody(route)
    expect(status).toBe(413)
    expect(body).toMatchObject({ type: 'error', error: { type: 'request_too_large' } })
  })

  test('is 400 on the endpoints of OpenAI’s formats', async () => {
    for (const route of ['/v1/chat/completions', '/v1/responses']) {
      const { status, body } = await declareBody(route)
      expect(status).toBe(400)
      expect(body).toMatchObject({ error: { details: { issue: 'body_too_large' } } })
    }
  })
})
