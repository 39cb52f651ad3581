import { afterAll, afterEach, beforeAll, expect, test } from 'bun:test'
import type { Json } from '../conformance/fixture'
import { wav } from '../../../server/testing/sound-files'
import { reportedCost } from '../../harness/ledger'
import { sendRequest, type FormFields } from '../../harness/http'
import { upstreamSecret } from '../../harness/server'
import { openFront, type Front } from './front'

const model = 'google/gemini-3.5-transcribe'
const onVertex = 'vertex/gemini-3.5-transcribe'
const sound = wav(4)
const file = new File([sound], 'talk.wav', { type: 'audio/wav' })

let front: Front

beforeAll(async () => {
  front = await openFront((url) => ({
    GEMINI_API_KEY: upstreamSecret,
    GOOGLE_BASE_URL: `${url}/v1beta`,
    VERTEX_API_KEY: upstreamSecret,
    VERTEX_BASE_URL: `${url}/v1`,
  }))
})
afterEach(() => front.reset())
afterAll(() => front[Symbol.asyncDispose]())

const transcribe = (fields: FormFields = {}) =>
  sendRequest(front.gateway, {
    path: '/v1/audio/transcriptions',
    key: front.customer.key,
    form: { file, model, ...fields },
  })

const usageMetadata = {
  promptTokenCount: 104,
  candidatesTokenCount: 6,
  totalTokenCount: 110,
  promptTokensDetails: [
    { modality: 'TEXT', tokenCount: 4 },
    { modality: 'AUDIO', tokenCount: 100 },
  ],
}
const answerOf =
  (parts: Json[], rest: Json = { finishReason: 'STOP' }) =>
  () =>
    Response.json({ candidates: [{ content: { role: 'model', parts }, ...rest }], usageMetadata })

/** 104 tokens at 2,000 and 6 at 12,000 nano-dollars. */
const cost = 280_000n

const utterance = (speakerLabel: string, ...texts: [string, number, number][]): Json => ({
  text: texts.map(([word]) => word).join(' '),
  audioTranscription: {
    speakerLabel,
    languageCode: 'en-US',
    words: texts.map(([word, start, end]) => ({
      word,
      startOffset: `${start}s`,
      endOffset: `${end}s`,
    })),
  },
})
const talk = [
  utterance('spk_1', ['Hello', 0, 0.4], ['there.', 0.4, 1]),
  utterance('spk_2', ['General', 2, 2.5], ['Kenobi!', 2.5, 3.25]),
]

test.each([
  [model, '/v1beta/models/gemini-3.5-transcribe:generateContent'],
  [onVertex, '/v1/publishers/google/models/gemini-3.5-transcribe:generateContent'],
])('%s reads the file as base64, and costs the tokens that it counts', async (id, path) => {
  front.answer = answerOf([{ text: 'Hello there.' }])
  const answer = await transcribe({ model: id })
  expect(answer.status).toBe(200)
  const [request] = front.requests
  expect(request?.path).toBe(path)
  expect(request?.headers.get('x-goog-api-key')).toBe(upstreamSecret)
  expect(request?.headers.get('content-type')).toBe('application/json')
  const data = Buffer.from(sound).toString('base64')
  expect(request?.body).toEqual({
    contents: [{ role: 'user', parts: [{ inlineData: { mimeType: 'audio/wav', data } }] }],
    generationConfig: { audioTranscriptionConfig: {} },
  })
  expect(answer.body).toEqual({
    text: 'Hello there.',
    usage: {
      type: 'tokens',
      input_tokens: 104,
      input_token_details: { text_tokens: 4, audio_tokens: 100 },
      output_tokens: 6,
      total_tokens: 110,
    },
  })
  expect(reportedCost(answer)).toBe(cost)
  expect(await front.booked(answer)).toMatchObject({ cost, estimated: false })
})

test('language, keywords, times and speakers are its settings', async () => {
  front.answer = answerOf(talk)
  const answer = await transcribe({
    response_format: 'diarized_json',
    language: 'en',
    'keywords[]': ['Kenobi'],
    prompt: 'Star Wars',
    temperature: '0.5',
  })
  expect(front.requests[0]?.body['generationConfig']).toEqual({
    audioTranscriptionConfig: {
      languageCodes: ['en'],
      customVocabulary: ['Kenobi'],
      wordTimestamp: true,
      diarization: true,
    },
  })
  expect(answer.headers.get('x-tollgate-omitted')).toBe('prompt, temperature')
  expect(answer.body).toMatchObject({
    text: 'Hello there. General Kenobi!',
    duration: 4,
    segments: [
      { speaker: 'spk_1', text: 'Hello there.', start: 0, end: 1 },
      { speaker: 'spk_2', text: 'General Kenobi!', start: 2, end: 3.25 },
    ],
  })
})

test('subtitles are made of its times', async () => {
  front.answer = answerOf(talk)
  expect((await transcribe({ response_format: 'srt' })).text).toBe(
    '1\n00:00:00,000 --> 00:00:01,000\nHello there.\n\n2\n00:00:02,000 --> 00:00:03,250\nGeneral Kenobi!\n\n',
  )
})

test('a stream has two events, as Gemini answers whole', async () => {
  front.answer = answerOf([{ text: 'Hello there.' }])
  const answer = await transcribe({ stream: 'true' })
  expect(answer.text).toContain('"type":"transcript.text.delta","delta":"Hello there."')
  expect(answer.text).toContain('"type":"transcript.text.done"')
  expect((await front.booked(answer)).cost).toBe(cost)
})

test('silence is an empty text', async () => {
  front.answer = answerOf([])
  expect((await transcribe()).body).toMatchObject({ text: '' })
})

test.each([
  [
    'a refusal is the caller’s error',
    () =>
      Response.json(
        { error: { code: 400, message: 'Unsupported audio.', status: 'INVALID_ARGUMENT' } },
        { status: 400 },
      ),
    400,
  ],
  [
    'a bad key is not',
    () =>
      Response.json(
        { error: { code: 400, message: 'API key not valid.', status: 'INVALID_ARGUMENT' } },
        { status: 400 },
      ),
    502,
  ],
])('%s, and costs nothing', async (_what, given, status) => {
  front.answer = given
  const answer = await transcribe()
  expect(answer.status).toBe(status)
  expect((await front.booked(answer)).cost).toBe(0n)
})

test.each([
  ['without a transcript', answerOf([], { finishReason: 'OTHER' })],
  ['of another kind', () => Response.json({ candidates: {} })],
])('an answer %s is rejected, and its prompt charged, as Google bills it', async (_what, given) => {
  front.answer = given
  const answer = await transcribe()
  expect([answer.status, answer.error.code]).toEqual([502, 'provider_error'])
  // At most the sound of 4 s, as tokens, and what stands around it.
  const { cost: billed, estimated } = await front.booked(answer)
  expect(estimated).toBe(true)
  expect(Number(billed)).toBeWithin(1, Number(cost))
})

test('sound of a format that Gemini does not have is rejected before it is called', async () => {
  const strange = new File([sound], 'talk.amr', { type: 'audio/amr' })
  const answer = await transcribe({ file: strange })
  expect([answer.status, answer.error.param]).toEqual([400, 'file'])
  expect(front.requests).toHaveLength(0)
})

test('it does not translate', async () => {
  const answer = await sendRequest(front.gateway, {
    path: '/v1/audio/translations',
    key: front.customer.key,
    form: { file, model },
  })
  expect([answer.status, answer.error.param]).toEqual([400, 'model'])
})
