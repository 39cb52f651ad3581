import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import { isJson, type Json } from '../conformance/fixture'
import { messages, sendRequest } from '../../harness/http'
import { upstreamSecret } from '../../harness/server'
import { eventsOf, openFront, type Front } from './front'

/** Models of the catalogue that speak and draw, at their prices there. */
const speaking = 'google/gemini-3.8-flash-tts'
const drawing = 'google/gemini-3.1-flash-image'
const samples = Buffer.from([1, 2, 3, 4])

let front: Front

beforeAll(async () => {
  front = await openFront((url) => ({
    GEMINI_API_KEY: upstreamSecret,
    GOOGLE_BASE_URL: `${url}/v1beta`,
  }))
})
afterEach(() => front.reset())
afterAll(() => front[Symbol.asyncDispose]())

const contentEvent = (parts: Json[], rest: Json = {}) => ({
  candidates: [{ content: { role: 'model', parts }, ...rest }],
})
const inlineData = (mimeType: string, data: Buffer) => ({
  inlineData: { mimeType, data: data.toString('base64') },
})
const pcm = (data: Buffer) => inlineData('audio/L16;codec=pcm;rate=24000', data)

const spoken = () =>
  eventsOf(contentEvent([pcm(samples.subarray(0, 2))]), contentEvent([pcm(samples.subarray(2))]), {
    ...contentEvent([], { finishReason: 'STOP' }),
    usageMetadata: {
      promptTokenCount: 4,
      candidatesTokenCount: 25,
      totalTokenCount: 29,
      candidatesTokensDetails: [{ modality: 'AUDIO', tokenCount: 25 }],
    },
  })

const speak = (format: string) => ({
  modalities: ['text', 'audio'],
  audio: { voice: 'Kore', format },
})

const messageIn = (body: Json): Json => {
  const choice: unknown = Array.isArray(body['choices']) ? body['choices'][0] : undefined
  const message = isJson(choice) ? choice['message'] : undefined
  return isJson(message) ? message : {}
}

test('sound is requested of Gemini, and comes back as OpenAI has it, at the price of sound', async () => {
  front.answer = spoken
  const answer = await front.chat(speaking, speak('pcm16'))
  expect(front.requests[0]?.body).toMatchObject({
    generationConfig: {
      responseModalities: ['AUDIO'],
      speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
    },
  })
  expect(messageIn(answer.body)).toMatchObject({
    content: null,
    audio: { id: 'audio_0', data: samples.toString('base64'), transcript: '' },
  })
  expect(answer.body).toMatchObject({
    usage: { completion_tokens: 25, completion_tokens_details: { audio_tokens: 25 } },
  })
  // 4 tokens at 500 and 25 at 9,000 nano-dollars.
  expect((await front.booked(answer)).cost).toBe(227_000n)
})

test.each([
  // 4 tokens at 500 nano-dollars, and 25 at 9,000 of sound, at 60,000 of an image.
  ['sound', speaking, speak('pcm16'), pcm(Buffer.alloc(4800)), 227_000n],
  [
    'an image',
    drawing,
    { modalities: ['image', 'text'] },
    inlineData('image/png', Buffer.alloc(4800)),
    1_502_000n,
  ],
])('%s whose tokens are not counted by kind still costs its own price', async (...row) => {
  const [, model, fields, part, cost] = row
  front.answer = () =>
    eventsOf({
      ...contentEvent([part], { finishReason: 'STOP' }),
      usageMetadata: { promptTokenCount: 4, candidatesTokenCount: 25, totalTokenCount: 29 },
    })
  expect((await front.booked(await front.chat(model, fields))).cost).toBe(cost)
})

test('as wav the sound has a header, once', async () => {
  front.answer = spoken
  const { audio } = messageIn((await front.chat(speaking, speak('wav'))).body)
  const sound = isJson(audio) ? audio : {}
  const file = Buffer.from(String(sound['data']), 'base64')
  expect([file.toString('latin1', 0, 4), file.toString('latin1', 8, 12)]).toEqual(['RIFF', 'WAVE'])
  expect(file.readUInt32LE(24)).toBe(24_000)
  expect([...file.subarray(44)]).toEqual([...samples])
  expect(sound['mime_type']).toBe('audio/wav')
})

test('a stream has the sound in its deltas', async () => {
  front.answer = spoken
  const stream = await front.stream(speaking, speak('pcm16'))
  const pieces = [...stream.text.matchAll(/"audio":\{"id":"audio_0","data":"([^"]*)"/g)]
  expect(pieces.map(([, data]) => data)).toEqual(['AQI=', 'AwQ='])
  expect(stream.isDone).toBeTrue()
})

test('images beside a text are requested, and have the price of images', async () => {
  // So large that its tokens are plausible.
  const image = Buffer.alloc(100_000, 7)
  front.answer = () =>
    eventsOf({
      ...contentEvent([{ text: 'A pear.' }, inlineData('image/png', image)], {
        finishReason: 'STOP',
      }),
      usageMetadata: {
        promptTokenCount: 4,
        candidatesTokenCount: 1302,
        totalTokenCount: 1306,
        candidatesTokensDetails: [{ modality: 'IMAGE', tokenCount: 1290 }],
      },
    })
  const answer = await front.chat(drawing, { modalities: ['image', 'text'] })
  expect(front.requests[0]?.body).toMatchObject({
    generationConfig: { responseModalities: ['IMAGE', 'TEXT'] },
  })
  const url = `data:image/png;base64,${image.toString('base64')}`
  expect(messageIn(answer.body)).toMatchObject({
    content: 'A pear.',
    images: [{ type: 'image_url', image_url: { url } }],
  })
  // 4 tokens at 500, 12 at 3,000 and 1,290 at 60,000 nano-dollars.
  expect((await front.booked(answer)).cost).toBe(77_438_000n)
})

test('a model without that modality is an error of the field, and costs nothing', async () => {
  const message =
    'The requested combination of response modalities (TEXT, AUDIO) is not supported by the model.'
  front.answer = () =>
    Response.json({ error: { code: 400, message, status: 'INVALID_ARGUMENT' } }, { status: 400 })
  const answer = await front.chat('google/gemini-2.5-flash', speak('pcm16'))
  expect(answer.status).toBe(400)
  expect(answer.error).toMatchObject({ code: 'invalid_request', param: 'modalities' })
  expect((await front.booked(answer)).cost).toBe(0n)
})

test('a format that Gemini does not make is rejected before it is called', async () => {
  const answer = await front.chat(speaking, speak('mp3'))
  expect(answer.status).toBe(400)
  expect(answer.error).toMatchObject({
    code: 'invalid_request',
    param: 'audio.format',
    details: { issue: 'unsupported_by_model' },
  })
  expect(front.requests).toHaveLength(0)
})

test('the sound of a request is held for: without credit for it nothing is sent', async () => {
  const poor = await front.gateway.customer({}, { credit: 0.01 })
  const answer = await sendRequest(front.gateway, {
    path: '/v1/chat/completions',
    key: poor.key,
    body: { model: drawing, messages, modalities: ['image', 'text'], max_tokens: 8000 },
  })
  expect([answer.status, answer.error.code]).toEqual([402, 'insufficient_credits'])
  expect(front.requests).toHaveLength(0)
})

test.each([
  ['/v1/messages', { max_tokens: 100, messages }],
  ['/v1/responses', { input: 'Hi' }],
  ['/v1/completions', { prompt: 'Hi' }],
])('%s, which has no place for images, takes no model that draws', async (path, fields) => {
  const answer = await front.post(path, { model: drawing, ...fields })
  expect(answer.status).toBe(400)
  expect(front.requests).toHaveLength(0)
})

test.each(['google/imagen-4.0-generate-001', 'openai/dall-e-3'])(
  'a chat takes no other model that draws: %s',
  async (model) => {
    await front
      .price(model, {
        category: 'image',
        pricing: { input: 0, output: 0, made_image: 0.04 },
      })
      .catch(() => undefined)
    const answer = await front.chat(model, { modalities: ['image', 'text'] })
    expect([answer.status, answer.error.param]).toEqual([400, 'model'])
  },
)
