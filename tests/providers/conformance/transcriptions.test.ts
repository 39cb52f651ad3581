import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { createHash } from 'node:crypto'
import { webm, wav } from '../../../server/testing/sound-files'
import { upstreamSecret } from '../../harness/server'
import { errorOf, createFixture, jsonOf, type Fixture } from './fixture'
import type { FormFields } from '../../harness/http'

const path = '/v1/audio/transcriptions'
const pricing = { input: 0, output: 0, audio_hour: 0.36 }
const transcriber = { category: 'transcription', pricing }
const sound = wav(4)
const file = new File([sound], 'talk.wav', { type: 'audio/wav' })
const text = 'Hello there. General Kenobi!'

let fixture: Fixture

beforeAll(async () => {
  fixture = await createFixture({ environment: { ANTHROPIC_API_KEY: upstreamSecret } })
  const { gateway, upstream } = fixture.rig
  await fixture.model('whisper', { ...transcriber, upstream_model: 'ok' })
  await fixture.model('gpt', { ...transcriber, upstream_model: 'hear-tokens' })
  await fixture.addProvider('mistral-like', { transcriptionFormat: 'mistral' })
  await fixture.addModel('mistral-like/hear-mistral', transcriber)
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

const readText = async (model: string, format: string) => {
  const response = await transcribe({ model, response_format: format })
  return [response.headers.get('content-type'), await response.text()]
}

const all = ['fake/whisper', 'mistral-like/hear-mistral', 'deepgram/ok', 'elevenlabs/ok']

describe.each(all)('%s', (model) => {
  test('receives the file byte for byte, and the caller its text', async () => {
    const response = await transcribe({ model })
    expect(response.status).toBe(200)
    expect(response.headers.get('content-type')).toBe('application/json')
    expect(await response.json()).toMatchObject({ text, usage: expect.any(Object) })
    const sha256 = createHash('sha256').update(sound).digest('hex')
    expect(fixture.sent()['file']).toMatchObject({ bytes: sound.length, sha256, type: 'audio/wav' })
  })

  test('text, subtitles and captions are plain text with the times of the provider', async () => {
    expect(await readText(model, 'text')).toEqual(['text/plain; charset=utf-8', `${text}\n`])
    const [type, srt] = await readText(model, 'srt')
    expect(type).toBe('text/plain; charset=utf-8')
    expect(srt).toBe(
      '1\n00:00:00,000 --> 00:00:02,000\nHello there.\n\n2\n00:00:02,000 --> 00:00:04,000\nGeneral Kenobi!\n\n',
    )
    expect(await readText(model, 'vtt')).toEqual([
      'text/vtt; charset=utf-8',
      'WEBVTT\n\n00:00:00.000 --> 00:00:02.000\nHello there.\n\n00:00:02.000 --> 00:00:04.000\nGeneral Kenobi!\n\n',
    ])
  })

  test('verbose_json has the length and the times of segments', async () => {
    const response = await transcribe({ model, response_format: 'verbose_json' })
    const body = jsonOf(await response.json())
    expect(body).toMatchObject({ task: 'transcribe', duration: 4, text })
    expect(body['segments']).toMatchObject([
      { id: 0, start: 0, end: 2, text: expect.stringContaining('Hello there.') },
      { id: 1, start: 2, end: 4, text: expect.stringContaining('General Kenobi!') },
    ])
  })

  test('a stream ends in the whole text with its usage, whether the provider streams or not', async () => {
    const response = await transcribe({ model, stream: 'true' })
    expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8')
    const events = readEvents(await response.text())
    expect(events.slice(0, -1).map(({ delta }) => delta)).toEqual([text])
    expect(events.at(-1)).toMatchObject({
      type: 'transcript.text.done',
      text,
      usage: expect.any(Object),
    })
  })
})

const readEvents = (stream: string) =>
  stream
    .split('\n\n')
    .filter((frame) => frame.startsWith('data: '))
    .map((frame) => jsonOf(JSON.parse(frame.slice('data: '.length))))

test('the events of a provider that streams go out as they come', async () => {
  const response = await transcribe({ model: 'fake/gpt', stream: 'true' })
  const events = readEvents(await response.text())
  expect(events.map(({ type }) => type)).toEqual([
    ...Array(4).fill('transcript.text.delta'),
    'transcript.text.done',
  ])
  expect(events.at(-1)).toMatchObject({ usage: { type: 'tokens', input_tokens: 44 } })
  expect(fixture.sent()).toMatchObject({ stream: 'true', response_format: 'json' })
})

test('a second provider receives the same file after the first one fails', async () => {
  const failing = await fixture.model('status-503', transcriber)
  const response = await transcribe({ model: failing, 'models[]': ['fake/whisper'] })
  expect(response.status).toBe(200)
  const [first, second] = fixture.rig.upstream.requests().slice(-2)
  const fileOf = (received: typeof first) => jsonOf(received?.body)['file']
  expect(jsonOf(second?.body)['model']).toBe('ok')
  expect(fileOf(second)).toEqual(fileOf(first))
  expect(await response.json()).toMatchObject({ text })
})

test('the official client transcribes and translates, plain and streamed', async () => {
  const { audio } = fixture.client
  const model = 'fake/gpt'
  expect(await audio.transcriptions.create({ file, model })).toMatchObject({ text })
  expect(await audio.transcriptions.create({ file, model, response_format: 'srt' })).toStartWith(
    '1\n',
  )
  const stream = await audio.transcriptions.create({ file, model, stream: true })
  let heard = ''
  for await (const event of stream) if (event.type === 'transcript.text.delta') heard += event.delta
  expect(heard).toBe(text)
  expect(await audio.translations.create({ file, model: 'fake/whisper' })).toMatchObject({ text })
  expect(fixture.rig.upstream.requests().at(-1)?.path).toBe('/v1/audio/translations')
})

test('the chunks of vLLM become events', async () => {
  const model = await fixture.model('hear-chunks', transcriber)
  const events = readEvents(await (await transcribe({ model, stream: 'true' })).text())
  expect(events.slice(0, -1).map(({ delta }) => delta)).toEqual([
    'Hello',
    ' there.',
    ' General',
    ' Kenobi!',
  ])
  const usage = { total_tokens: 52 }
  expect(events.at(-1)).toMatchObject({ type: 'transcript.text.done', text, usage })
})

test('fields of the form reach a provider of OpenAI’s form, those of their names with brackets too', async () => {
  await transcribe({
    model: 'fake/whisper',
    language: 'de',
    prompt: 'Umlaute: äöü',
    temperature: '0.2',
    response_format: 'verbose_json',
    'timestamp_granularities[]': ['word', 'segment'],
    'chunking_strategy[type]': 'server_vad',
    'include[]': 'logprobs',
  })
  const { file: _file, ...fields } = fixture.sent()
  expect(fields).toEqual({
    model: 'ok',
    language: 'de',
    prompt: 'Umlaute: äöü',
    temperature: '0.2',
    response_format: 'verbose_json',
    'timestamp_granularities[]': ['word', 'segment'],
    'chunking_strategy[type]': 'server_vad',
    'include[]': ['logprobs'],
  })
})

test('words have times where they are wanted', async () => {
  const fields = { response_format: 'verbose_json', 'timestamp_granularities[]': 'word' }
  for (const model of ['fake/whisper', 'deepgram/ok', 'elevenlabs/ok']) {
    const body = jsonOf(await (await transcribe({ model, ...fields })).json())
    expect(body['words']).toMatchObject([
      { word: 'Hello', start: 0, end: 1 },
      { word: 'there.', start: 1, end: 2 },
      { word: 'General', start: 2, end: 3 },
      { word: 'Kenobi!', start: 3, end: 4 },
    ])
  }
})

test.each([
  ['fake/whisper', ['A', 'B']],
  ['deepgram/ok', ['0', '1']],
  ['elevenlabs/ok', ['speaker_0', 'speaker_1']],
])('%s names the speakers', async (model, speakers) => {
  const body = jsonOf(await (await transcribe({ model, response_format: 'diarized_json' })).json())
  const segments = Array.isArray(body['segments']) ? body['segments'] : []
  expect(segments.map((segment) => jsonOf(segment)['speaker'])).toEqual(speakers)
})

test('fields without a counterpart at the provider are named in x-tollgate-omitted', async () => {
  const response = await transcribe({ model: 'deepgram/ok', prompt: 'Kenobi', language: 'en' })
  expect(response.headers.get('x-tollgate-omitted')).toBe('prompt')
  expect(fixture.sent()).toMatchObject({ model: 'ok', language: 'en', smart_format: 'true' })
  expect(fixture.sent()).not.toHaveProperty('prompt')
})

test('an answer without a text is a provider error', async () => {
  const model = await fixture.model('hear-nothing', transcriber)
  const response = await transcribe({ model })
  expect(response.status).toBe(502)
  expect(await errorOf(response)).toMatchObject({ code: 'provider_error' })
})

test('the sandbox reports the length of a file, without a key of any provider', async () => {
  const model = 'sandbox/transcription'
  const body = jsonOf(await (await transcribe({ model })).json())
  expect(body).toMatchObject({
    text: expect.stringContaining(
      'The file talk.wav has 64044 bytes and about 4 seconds of sound.',
    ),
    usage: { type: 'duration', seconds: 4 },
  })
  const srt = await (await transcribe({ model, response_format: 'srt' })).text()
  expect(srt).toContain('--> 00:00:04,000')
})

const named = (name: string, type = 'audio/wav', content: Uint8Array = sound) =>
  new File([content], name, { type })

test.each([
  ['no file', { file: null }, 'file', 'required'],
  ['a text in place of a file', { file: 'sound' }, 'file', 'wrong_type'],
  ['an empty file', { file: named('a.wav', 'audio/wav', Buffer.alloc(0)) }, 'file', 'empty'],
  ['two files', { file: [file, file] }, 'file', 'too_many'],
  ['a file of text', { file: named('a.txt', 'text/plain') }, 'file', 'wrong_type'],
  ['a picture', { file: named('a.png', 'image/png') }, 'file', 'wrong_type'],
  ['a name with a path', { file: named('../a.wav') }, 'file', 'bad_format'],
  ['no model', { model: null }, 'model', 'required'],
  ['a wrong format', { response_format: 'docx' }, 'response_format', 'unknown_value'],
  ['a temperature that is a word', { temperature: 'hot' }, 'temperature', 'wrong_type'],
  ['a temperature out of range', { temperature: '3' }, 'temperature', 'out_of_range'],
  [
    'a wrong granularity',
    { 'timestamp_granularities[]': 'day' },
    'timestamp_granularities.0',
    'unknown_value',
  ],
  ['a stream that is a word', { stream: 'maybe' }, 'stream', 'wrong_type'],
  [
    'a part bomb',
    Object.fromEntries(Array.from({ length: 101 }, (_, index) => [`f${index}`, 'x'])),
    null,
    'too_many',
  ],
] as [string, FormFields, string | null, string][])(
  '%s is rejected with the field and the reason, and nothing is sent',
  async (...[, fields, param, issue]) => {
    const before = fixture.rig.upstream.requests().length
    const response = await transcribe({ model: 'fake/whisper', ...fields })
    expect(response.status).toBe(400)
    expect(await errorOf(response)).toMatchObject({ param, details: { issue } })
    expect(fixture.rig.upstream.requests()).toHaveLength(before)
  },
)

test('a translation in JSON is rejected', async () => {
  const response = await fixture.post('/v1/audio/translations', { model: 'fake/whisper' })
  expect(await errorOf(response)).toMatchObject({ details: { issue: 'wrong_content_type' } })
})

test('sound of any type that clients give it goes through', async () => {
  for (const one of [
    named('a.webm', 'video/webm', webm()),
    named('a', 'application/octet-stream'),
    named('a.mp3', 'text/plain'),
  ]) {
    const response = await transcribe({ model: 'fake/whisper', file: one })
    expect(response.status).toBe(200)
    await response.text()
  }
})

test('models of other kinds do not transcribe, and those that do chat not', async () => {
  const chat = await fixture.model('say', { upstream_model: 'ok' })
  const ofKind = { param: 'model', details: { issue: 'unsupported_by_model' } }
  expect(await errorOf(await transcribe({ model: chat }))).toMatchObject(ofKind)
  const messages = [{ role: 'user', content: 'a' }]
  const answer = await fixture.post('/v1/chat/completions', { model: 'fake/whisper', messages })
  expect(await errorOf(answer)).toMatchObject(ofKind)
})

test('providers that do not transcribe, or not into English, receive no request', async () => {
  const ofKind = { param: 'model', details: { issue: 'unsupported_by_model' } }
  await fixture.addModel('anthropic/ears', transcriber)
  expect(await errorOf(await transcribe({ model: 'anthropic/ears' }))).toMatchObject(ofKind)
  const translated = await transcribe({ model: 'deepgram/ok' }, '/v1/audio/translations')
  expect(await errorOf(translated)).toMatchObject(ofKind)
})
