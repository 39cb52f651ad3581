import { expect, test } from 'bun:test'
import { toSecretHeader } from './credentials'
import { providers } from './registry'
import { speechFormOf } from './speech-forms'
import { ApiError } from '../errors'
import type { SpeechRequest } from '../wire/speech-request'

const providerOf = (key: string) => {
  const provider = providers.find((one) => one.key === key)
  if (!provider) throw new Error(`no provider ${key}`)
  return provider
}

function write(key: string, upstreamModel: string, fields: Partial<SpeechRequest>) {
  const provider = providerOf(key)
  const request = { model: 'any', input: 'Hello', ...fields }
  const format = request.response_format ?? speechFormOf(provider).usualFormat
  const target = { upstreamModel, options: provider.options, format, asEvents: false }
  return speechFormOf(provider).write(request, request, target)
}

const issueOf = (work: () => unknown): unknown => {
  try {
    work()
  } catch (thrown) {
    if (thrown instanceof ApiError) return [thrown.param, thrown.details]
    throw thrown
  }
  throw new Error('nothing was thrown')
}

test.each([
  ['aura-2', 'thalia', 'aura-2-thalia-en'],
  ['aura-2', 'celeste-es', 'aura-2-celeste-es'],
  ['aura-2', 'aura-2-thalia-en', 'aura-2-thalia-en'],
  ['aura-2-thalia-en', 'other', 'aura-2-thalia-en'],
  ['aura-2-thalia-en', undefined, 'aura-2-thalia-en'],
])('Deepgram: the model %s with the voice %s is %s', (model, voice, expected) => {
  expect(write('deepgram', model, { voice }).path).toStartWith(`/speak?model=${expected}&`)
})

test.each([
  ['aura-2', undefined, 'required'],
  ['aura', '2-thalia-en', 'bad_format'],
  ['aura', 'aura-2-thalia-en', 'bad_format'],
  ['aura-2', 'thalia&encoding=mulaw', 'bad_format'],
])('Deepgram: the model %s rejects the voice %s', (model, voice, issue) => {
  expect(issueOf(() => write('deepgram', model, { voice }))).toEqual(['voice', { issue }])
})

test.each([
  ['mp3', 'encoding=mp3'],
  ['opus', 'encoding=opus&container=ogg'],
  ['wav', 'encoding=linear16&container=wav&sample_rate=24000'],
  ['pcm', 'encoding=linear16&container=none&sample_rate=24000'],
] as const)('Deepgram: the format %s is %s', (format, query) => {
  const { path } = write('deepgram', 'aura-2', { voice: 'thalia', response_format: format })
  expect(path).toEndWith(`&${query}`)
})

test.each([
  ['mp3', 'mp3_44100_128'],
  ['opus', 'opus_48000_64'],
  ['wav', 'pcm_24000'],
  ['pcm', 'pcm_24000'],
] as const)('ElevenLabs: the format %s is %s', (format, name) => {
  const { path } = write('elevenlabs', 'eleven_v3', { voice: 'abc', response_format: format })
  expect(path).toBe(`/text-to-speech/abc/stream?output_format=${name}`)
})

test.each([undefined, '', '../users', 'a/b', 'a?b'])('ElevenLabs rejects the voice %s', (voice) => {
  const issue = voice === undefined ? 'required' : 'bad_format'
  expect(issueOf(() => write('elevenlabs', 'eleven_v3', { voice }))).toEqual(['voice', { issue }])
})

test('ElevenLabs limits a text by its model', () => {
  const provider = providerOf('elevenlabs')
  const maxOf = (upstreamModel: string) =>
    speechFormOf(provider).maxCharacters({ upstreamModel, options: provider.options })
  expect(
    ['eleven_v3', 'eleven_flash_v2_5', 'eleven_flash_v2', 'eleven_v4'].map((name) => maxOf(name)),
  ).toEqual([5000, 40_000, 30_000, undefined])
})

test.each(['gemini-2.5-flash-tts', 'google/gemini-2.5-flash-tts'])(
  'Vertex AI: the model %s speaks as Gemini does, below its publisher',
  (model) => {
    const { path, body } = write('vertex', model, { voice: 'Kore' })
    expect(path).toBe(
      '/publishers/google/models/gemini-2.5-flash-tts:streamGenerateContent?alt=sse',
    )
    expect(body).toEqual(write('google', model, { voice: 'Kore' }).body)
  },
)

const headerOf = (key: string) => {
  const connection = { baseUrl: null, secret: 'secret', options: {} }
  return toSecretHeader({ provider: providerOf(key), connection }, 'https://one.example')
}

test('each credential has the header that its provider reads', () => {
  expect(headerOf('deepgram')).toEqual({ authorization: 'Token secret' })
  expect(headerOf('elevenlabs')).toEqual({ 'xi-api-key': 'secret' })
  expect(headerOf('openai')).toEqual({ authorization: 'Bearer secret' })
})
