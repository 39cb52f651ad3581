import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { eventually } from '../../../server/testing/eventually'
import { wav } from '../../../server/testing/sound-files'
import { upstreamSecret } from '../../harness/server'
import { errorOf, createFixture, type Fixture } from './fixture'
import type { FormFields } from '../../harness/http'

const path = '/v1/audio/transcriptions'
const pricing = { input: 0, output: 0, audio_hour: 0.36 }
const transcriber = { category: 'transcription', pricing }
const sound = wav(4)
const file = new File([sound], 'talk.wav', { type: 'audio/wav' })
const text = 'Hello there. General Kenobi!'

let fixture: Fixture

beforeAll(async () => {
  fixture = await createFixture()
  const { gateway, upstream } = fixture.rig
  await fixture.model('whisper', { ...transcriber, upstream_model: 'ok' })
  await fixture.model('gpt', { ...transcriber, upstream_model: 'hear-tokens' })
  await fixture.addProvider('mistral-like', { transcriptionFormat: 'mistral' })
  await fixture.addModel('mistral-like/hear-mistral', transcriber)
  await fixture.addProvider('cloudflare-like', { transcriptionFormat: 'cloudflare' })
  await fixture.addModel('cloudflare-like/@cf/openai/whisper-large-v3-turbo', transcriber)
  await fixture.addProvider('azure-speech-like', { transcriptionFormat: 'azure_speech' })
  await fixture.addModel('azure-speech-like/llm-speech', transcriber)
  for (const provider of ['deepgram', 'elevenlabs']) {
    await gateway.admin('POST', '/connections', {
      name: provider,
      provider,
      api_key: upstreamSecret,
      endpoint_url: upstream.url,
    })
    await fixture.addModel(`${provider}/ok`, transcriber)
  }
})
afterAll(() => fixture[Symbol.asyncDispose]())
afterEach(() => fixture.verify())

const transcribe = (fields: FormFields, at = path) => fixture.postForm(at, { file, ...fields })

const all = ['fake/whisper', 'mistral-like/hear-mistral', 'deepgram/ok', 'elevenlabs/ok']

describe('JSON with the sound in base64, as OpenRouter has it', () => {
  const audio = { data: sound.toString('base64'), format: 'wav' }
  const send = (fields: Record<string, unknown> = {}) =>
    fixture.post(path, { model: 'fake/whisper', input_audio: audio, ...fields })

  test.each(all)('is for %s the file that a form has, at the same price', async (model) => {
    const response = await send({ model, language: 'en', temperature: 0 })
    expect([response.status, response.headers.get('x-tollgate-cost')]).toEqual([200, '0.0004'])
    expect(await response.json()).toMatchObject({ text, usage: expect.any(Object) })
    const sha256 = createHash('sha256').update(sound).digest('hex')
    expect(fixture.sent()['file']).toMatchObject({ bytes: sound.length, sha256, type: 'audio/wav' })
    expect(fixture.sent()).not.toHaveProperty('input_audio')
  })

  test('is answered in each format, and streamed', async () => {
    const verbose = await send({
      response_format: 'verbose_json',
      timestamp_granularities: ['word', 'segment'],
    })
    expect(await verbose.json()).toMatchObject({ text, duration: 4, words: expect.any(Array) })
    const srt = await (await send({ response_format: 'srt' })).text()
    expect(srt).toStartWith('1\n00:00:00,000 --> ')
    const events = await (await send({ model: 'fake/gpt', stream: true })).text()
    expect(events).toContain('transcript.text.done')
  })

  test('has its cost in the usage where that is requested, and options for providers are left out', async () => {
    const response = await send({ usage: { include: true }, provider: { options: { openai: {} } } })
    expect(await response.json()).toMatchObject({ text, usage: { cost: 0.0004 } })
    expect(fixture.sent()).not.toHaveProperty('provider')
  })

  test.each([
    ['no sound', { input_audio: undefined }, 'input_audio', 'required'],
    [
      'a data URL',
      { input_audio: { ...audio, data: 'data:audio/wav;base64,AA' } },
      'input_audio.data',
      'bad_format',
    ],
    [
      'an unknown format',
      { input_audio: { ...audio, format: 'docx' } },
      'input_audio.format',
      'bad_format',
    ],
    ['a file beside it', { file: 'a.wav' }, 'file', 'not_allowed'],
    ['a wrong temperature', { temperature: 3 }, 'temperature', 'out_of_range'],
    ['no model', { model: undefined }, 'model', 'required'],
  ])('%s is rejected, and nothing is sent', async (...[, fields, param, issue]) => {
    const before = fixture.rig.upstream.requests().length
    const response = await send(fields)
    expect(response.status).toBe(400)
    expect(await errorOf(response)).toMatchObject({ param, details: { issue } })
    expect(fixture.rig.upstream.requests()).toHaveLength(before)
  })

  test('leaves nothing on disk', async () => {
    const directory = join(fixture.rig.gateway.dataDir, 'uploads')
    await (await send()).text()
    await eventually(async () => (await readdir(directory)).length === 0)
  })
})

describe.each([
  'cloudflare-like/@cf/openai/whisper-large-v3-turbo',
  'azure-speech-like/llm-speech',
])('%s', (model) => {
  test.each(['/v1/audio/translations', path])(
    'answers %s, at the price of the sound',
    async (at) => {
      const response = await transcribe({ model, response_format: 'verbose_json' }, at)
      expect([response.status, response.headers.get('x-tollgate-cost')]).toEqual([200, '0.0004'])
      expect(await response.json()).toMatchObject({ text, duration: 4, segments: [{}, {}] })
      const task = at === path ? 'transcribe' : 'translate'
      expect(JSON.stringify(fixture.sent())).toContain(task)
    },
  )

  test('is sent no request where the caller wants speakers', async () => {
    const before = fixture.rig.upstream.requests().length
    const response = await transcribe({ model, response_format: 'diarized_json' })
    expect(await errorOf(response)).toMatchObject({
      param: 'response_format',
      details: { issue: 'unsupported_by_model' },
    })
    expect(fixture.rig.upstream.requests()).toHaveLength(before)
  })
})
