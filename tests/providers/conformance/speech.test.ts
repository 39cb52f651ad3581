import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { sendRequest } from '../../harness/http'
import { upstreamSecret } from '../../harness/server'
import { soundOf } from '../../harness/upstreams/speeches'
import { chunksOf, createFixture, errorOf, type Fixture, type Json } from './fixture'
import { anthropicEnvironment, testSeparateKinds } from './separate-kinds'

const path = '/v1/audio/speech'
const byCharacter = { category: 'speech', pricing: { input: 0, output: 0, input_characters: 15 } }
const byToken = { category: 'speech', pricing: { input: 0.6, output: 0, audio_output: 12 } }
const input = 'Hello to all of you'
const sound = soundOf(input)
const wavHeaderBytes = 44
/** 25 tokens a second, of MP3 of 128 kbit/s. */
const estimatedTokens = Math.ceil((sound.length / 16_000) * 25)

let fixture: Fixture

beforeAll(async () => {
  fixture = await createFixture({ environment: anthropicEnvironment })
  const { gateway, upstream } = fixture.rig
  for (const provider of ['deepgram', 'elevenlabs', 'google'])
    await gateway.admin('POST', '/connections', {
      name: provider,
      provider,
      api_key: upstreamSecret,
      endpoint_url: upstream.url,
    })
  await fixture.model('by-character', { ...byCharacter, upstream_model: 'ok' })
  await fixture.model('by-token', { ...byToken, upstream_model: 'ok' })
  await fixture.addModel('deepgram/spoken', { ...byCharacter, upstream_model: 'aura-2' })
  await fixture.addModel('elevenlabs/spoken', { ...byCharacter, upstream_model: 'ok' })
  await fixture.addModel('google/spoken', { ...byToken, upstream_model: 'ok' })
})
afterAll(() => fixture[Symbol.asyncDispose]())
afterEach(() => fixture.verify())

const speak = (body: Json) => fixture.post(path, { input, ...body })
const bytesOf = async (response: Response) => Buffer.from(await response.arrayBuffer())
const lastTarget = () => fixture.rig.upstream.requests().at(-1)?.path

/** The sound in the deltas of a stream, and its last event. */
async function eventsOf(response: Response) {
  const events = await chunksOf(response)
  const deltas = events.filter(({ type }) => type === 'speech.audio.delta')
  const pieces = deltas.map(({ audio }) => Buffer.from(String(audio), 'base64'))
  return { spoken: Buffer.concat(pieces), last: events.at(-1), count: events.length }
}

interface Spoken {
  model: string
  voice: string
  /** A format, its type, and the bytes before the sound. */
  format: string
  type: string
  headerBytes: number
  sent: Json
}

const cases: readonly Spoken[] = [
  {
    model: 'fake/by-character',
    voice: 'alloy',
    format: 'mp3',
    type: 'audio/mpeg',
    headerBytes: 0,
    sent: { model: 'ok', input, voice: 'alloy', response_format: 'mp3', speed: 1.5 },
  },
  {
    model: 'fake/by-token',
    voice: 'alloy',
    format: 'opus',
    type: 'audio/ogg',
    headerBytes: 0,
    sent: {
      model: 'ok',
      input,
      voice: 'alloy',
      response_format: 'opus',
      stream_format: 'sse',
      speed: 1.5,
    },
  },
  {
    model: 'deepgram/spoken',
    voice: 'thalia',
    format: 'flac',
    type: 'audio/flac',
    headerBytes: 0,
    sent: { text: input },
  },
  {
    model: 'elevenlabs/spoken',
    voice: 'JBFqnCBsd6RMkjVDRZzb',
    format: 'wav',
    type: 'audio/wav',
    headerBytes: wavHeaderBytes,
    sent: { text: input, model_id: 'ok', voice_settings: { speed: 1.5 } },
  },
  {
    model: 'google/spoken',
    voice: 'Kore',
    format: 'wav',
    type: 'audio/wav',
    headerBytes: wavHeaderBytes,
    sent: {
      contents: [{ role: 'user', parts: [{ text: input }] }],
      generationConfig: {
        responseModalities: ['AUDIO'],
        speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
      },
    },
  },
]

describe.each(cases)('$model', ({ model, voice, format, type, headerBytes, sent }) => {
  const asked = { model, voice, response_format: format, speed: 1.5 }

  test('answers with the bytes of the format', async () => {
    const response = await speak(asked)
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe(type)
    const bytes = await bytesOf(response)
    expect(bytes.subarray(headerBytes).equals(sound)).toBe(true)
    if (headerBytes > 0) expect(bytes.subarray(0, 4).toString()).toBe('RIFF')
    expect(fixture.sent()).toEqual(sent)
  })

  test('answers with events whose last has the usage', async () => {
    const response = await speak({ ...asked, stream_format: 'sse' })
    expect(response.headers.get('content-type')).toStartWith('text/event-stream')
    const { spoken, last, count } = await eventsOf(response)
    expect(spoken.subarray(headerBytes).equals(sound)).toBe(true)
    expect(count).toBeGreaterThan(2)
    expect(last).toMatchObject({
      type: 'speech.audio.done',
      usage: { total_tokens: expect.any(Number) },
    })
  })
})

test('the voice is a part of the model at Deepgram, and of the path at ElevenLabs', async () => {
  await bytesOf(await speak({ model: 'deepgram/spoken', voice: 'thalia' }))
  expect(lastTarget()).toBe('/v1/speak')
  await bytesOf(await speak({ model: 'elevenlabs/spoken', voice: 'abc123' }))
  expect(lastTarget()).toBe('/v1/text-to-speech/abc123/stream')
})

test('fields that only tune, and that a provider lacks, are named', async () => {
  const response = await speak({
    model: 'deepgram/spoken',
    voice: 'thalia',
    instructions: 'Cheerfully',
    speed: 2,
  })
  expect(response.headers.get('x-tollgate-omitted')).toBe('instructions, speed')
  await bytesOf(response)
})

test('Gemini receives instructions before the text', async () => {
  const instructions = 'Say cheerfully'
  await bytesOf(await speak({ model: 'google/spoken', instructions }))
  expect(fixture.sent()['contents']).toEqual([
    { role: 'user', parts: [{ text: `${instructions}: ${input}` }] },
  ])
})

test.each(['speech-bytes', 'speech-refuses', 'speech-uncounted'])(
  'a server that has no events, or no counts, is still served: %s',
  async (name) => {
    const model = await fixture.model(name, byToken)
    const plain = await bytesOf(await speak({ model, voice: 'alloy' }))
    expect(plain.equals(sound)).toBe(true)
    const { spoken, last } = await eventsOf(
      await speak({ model, voice: 'alloy', stream_format: 'sse' }),
    )
    expect(spoken.equals(sound)).toBe(true)
    expect(last).toMatchObject({
      type: 'speech.audio.done',
      usage: { output_tokens: estimatedTokens },
    })
  },
)

test.each([
  ['no text', { input: undefined }, 'input', 'required'],
  ['an empty text', { input: '' }, 'input', 'too_short'],
  ['a text of any length', { input: 'a'.repeat(100_001) }, 'input', 'too_long'],
  ['a number', { input: 7 }, 'input', 'wrong_type'],
  ['an unknown format', { response_format: 'midi' }, 'response_format', 'unknown_value'],
  ['too fast', { speed: 5 }, 'speed', 'out_of_range'],
  ['an unknown stream format', { stream_format: 'chunks' }, 'stream_format', 'unknown_value'],
  ['an invalid voice', { voice: 7 }, 'voice', 'wrong_type'],
  [
    'more than Deepgram takes',
    { model: 'deepgram/spoken', voice: 'thalia', input: 'a'.repeat(2001) },
    'input',
    'too_long',
  ],
  ['no voice for Deepgram', { model: 'deepgram/spoken', voice: undefined }, 'voice', 'required'],
  [
    'a voice of another price',
    { model: 'deepgram/spoken', voice: '3-thalia-en' },
    'voice',
    'bad_format',
  ],
  [
    'a voice of the operator’s account',
    { voice: { id: 'voice_1' } },
    'voice',
    'unsupported_by_model',
  ],
  ['a path for a voice', { model: 'elevenlabs/spoken', voice: '../users' }, 'voice', 'bad_format'],
  [
    'a format that ElevenLabs lacks',
    { model: 'elevenlabs/spoken', voice: 'a', response_format: 'flac' },
    'response_format',
    'unsupported_by_model',
  ],
  [
    'a format that Gemini lacks',
    { model: 'google/spoken', response_format: 'mp3' },
    'response_format',
    'unsupported_by_model',
  ],
])('%s is rejected with the field and the reason', async (...[, fields, param, issue]) => {
  const before = fixture.rig.upstream.requests().length
  const response = await speak({ model: 'fake/by-character', voice: 'alloy', ...fields })
  expect(response.status).toBe(400)
  expect(await errorOf(response)).toMatchObject({ param, details: { issue } })
  expect(fixture.rig.upstream.requests()).toHaveLength(before)
})

test.each(['speech-silent', 'speech-page', 'status-500', 'status-401'])(
  'an answer without sound is an error with its own status: %s',
  async (name) => {
    const model = await fixture.model(name, byCharacter)
    const response = await speak({ model, voice: 'alloy' })
    expect(response.status).toBe(502)
    expect(await errorOf(response)).toMatchObject({ code: 'provider_error' })
  },
)

test('a failure after the first byte breaks the connection, or is an event', async () => {
  const model = await fixture.model('speech-cut', byCharacter)
  const response = await fetch(`${fixture.rig.gateway.url}${path}`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${fixture.customer.key}`,
      'content-type': 'application/json',
    },
    body: JSON.stringify({ model, input, voice: 'alloy' }),
  })
  expect(response.status).toBe(200)
  await expect(bytesOf(response)).rejects.toThrow()
  const events = await chunksOf(await speak({ model, voice: 'alloy', stream_format: 'sse' }))
  expect(events.at(-1)).toMatchObject({ type: 'error', error: { code: 'connection_failed' } })
  const unended = await fixture.model('speech-unended', byToken)
  const cut = await chunksOf(await speak({ model: unended, voice: 'alloy', stream_format: 'sse' }))
  expect(cut.at(-1)).toMatchObject({ type: 'error', error: { code: 'provider_error' } })
})

test('a failing provider is followed by the next member of a collection', async () => {
  const failing = await fixture.model('status-503', byCharacter)
  const { rig } = fixture
  const owner = await rig.gateway.customer({ permissions: ['read', 'write', 'admin'] })
  const made = await sendRequest(rig.gateway, {
    path: '/api/user/model-collections',
    key: owner.key,
    body: { name: 'speakers', members: [failing, 'fake/by-character'] },
  })
  expect(made.status).toBe(201)
  const response = await rig.gateway.recorder.fetch(`${rig.gateway.url}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${owner.key}`, 'content-type': 'application/json' },
    body: JSON.stringify({ model: String(made.body['model_id']), input, voice: 'alloy' }),
  })
  expect((await bytesOf(response)).equals(sound)).toBe(true)
})

testSeparateKinds(() => fixture, {
  path,
  fields: byCharacter,
  model: 'fake/by-character',
  body: { input, voice: 'alloy' },
})
