import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import type { Json } from '../conformance/fixture'
import { upstreamSecret } from '../../harness/server'
import { eventsOf, openFront, type Front } from './front'

const model = 'mistral/voxtral-mini-tts-3-0'
const input = 'Grüezi!'
const sound = Buffer.from([0xff, 0xfb, 1, 2, 3])

let front: Front

beforeAll(async () => {
  front = await openFront((url) => ({
    MISTRAL_API_KEY: upstreamSecret,
    MISTRAL_BASE_URL: `${url}/v1`,
  }))
})
afterEach(() => front.reset())
afterAll(() => front[Symbol.asyncDispose]())

const speak = (fields: Json = {}) =>
  front.post('/v1/audio/speech', { model, input, voice: 'gb_jane_neutral', ...fields })

const delta = (data: Buffer) => ({
  type: 'speech.audio.delta',
  audio_data: data.toString('base64'),
})
const usage = { prompt_tokens: 9, completion_tokens: 30, total_tokens: 39 }
const spoken = () =>
  eventsOf(delta(sound.subarray(0, 2)), delta(sound.subarray(2)), {
    type: 'speech.audio.done',
    usage,
  })

/** 7 characters at 13,000 nano-dollars. */
const cost = 91_000n

test('Mistral streams, and callers receive the bytes of the format, at the price of characters', async () => {
  front.answer = spoken
  const response = await fetch(`${front.gateway.url}/v1/audio/speech`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${front.customer.key}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ model, input, voice: 'gb_jane_neutral' }),
  })
  expect(response.headers.get('content-type')).toBe('audio/mpeg')
  expect([...new Uint8Array(await response.arrayBuffer())]).toEqual([...sound])
  const [request] = front.requests
  expect(request?.path).toBe('/v1/audio/speech')
  expect(request?.headers.get('authorization')).toBe(`Bearer ${upstreamSecret}`)
  expect(request?.body).toEqual({
    model: 'voxtral-mini-tts-3-0',
    input,
    voice_id: 'gb_jane_neutral',
    response_format: 'mp3',
    stream: true,
  })
})

test('events have the sound and the usage as OpenAI has them', async () => {
  front.answer = spoken
  const answer = await speak({ stream_format: 'sse', response_format: 'opus' })
  expect(answer.text).toContain('{"type":"speech.audio.delta","audio":"//s="}')
  expect(answer.text).toContain('"usage":{"input_tokens":9,"output_tokens":30,"total_tokens":39}')
  expect(front.requests[0]?.body['response_format']).toBe('opus')
  expect((await front.booked(answer)).cost).toBe(cost)
})

test('a whole answer in place of a stream is read too', async () => {
  front.answer = () => Response.json({ audio_data: sound.toString('base64') })
  const answer = await speak({ stream_format: 'sse' })
  expect(answer.text).toContain(`"audio":"${sound.toString('base64')}"`)
  expect((await front.booked(answer)).cost).toBe(cost)
})

test('instructions and speed are named as left out', async () => {
  front.answer = spoken
  const answer = await speak({ stream_format: 'sse', instructions: 'Cheerfully', speed: 2 })
  expect(answer.headers.get('x-tollgate-omitted')).toBe('instructions, speed')
  expect(front.requests[0]?.body).not.toHaveProperty('speed')
})

test.each(['pcm', 'aac'])(
  '%s, which it does not make as OpenAI does, is rejected',
  async (format) => {
    const answer = await speak({ response_format: format })
    expect(answer.status).toBe(400)
    expect(answer.error).toMatchObject({
      param: 'response_format',
      details: { issue: 'unsupported_by_model' },
    })
    expect(front.requests).toHaveLength(0)
  },
)

test('a refusal has its status, and costs nothing', async () => {
  front.answer = () => Response.json({ detail: [{ msg: 'unknown voice' }] }, { status: 422 })
  const answer = await speak({ voice: 'nobody' })
  expect([answer.status, answer.error.code]).toEqual([400, 'invalid_request'])
  expect((await front.booked(answer)).cost).toBe(0n)
})

test('a stream that breaks off is charged once for its text', async () => {
  front.answer = () => eventsOf(delta(sound))
  const answer = await speak({ stream_format: 'sse' })
  expect(answer.text).toContain('"type":"error"')
  expect((await front.booked(answer)).cost).toBe(cost)
})
