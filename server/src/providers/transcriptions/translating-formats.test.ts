import { describe, expect, test } from 'bun:test'
import { azureSpeech } from './azure-speech'
import { cloudflare } from './cloudflare'
import type { Transcribing } from './format'
import { ApiError } from '../../errors'
import { UploadedFile } from '../../wire/uploaded-file'
import { sampleSource } from '../../../testing/providers/samples'

const file = new UploadedFile({
  path: '/dev/null',
  name: 'talk.wav',
  type: 'audio/wav',
  bytes: 0,
  sha256: '',
})
const requestOf = (fields: Partial<Transcribing> = {}): Transcribing => ({
  upstreamModel: '@cf/openai/whisper-large-v3-turbo',
  task: 'translate',
  body: {},
  params: { model: 'm', file, prompt: 'Names: Kenobi' },
  format: 'json',
  streams: false,
  drop: [],
  ...fields,
})

const sentBy = async (request: Transcribing) => {
  const { path, content } = cloudflare.write(request)
  if (!('body' in content)) throw new Error('no body')
  const pieces = await Array.fromAsync(content.body.read())
  return { path, body: JSON.parse(Buffer.concat(pieces).toString()) }
}

function definitionOf(fields: Partial<Transcribing>): unknown {
  const { content } = azureSpeech.write(requestOf(fields))
  if (!('fields' in content)) throw new Error('no form')
  expect(content.fields.map(([name]) => name)).toEqual(['definition', 'audio'])
  const definition = content.fields[0]?.[1]
  return JSON.parse(typeof definition === 'string' ? definition : '')
}

describe('Workers AI', () => {
  test('receives the file as base64, the task and the words of the prompt', async () => {
    expect(await sentBy(requestOf())).toEqual({
      path: '/run/@cf/openai/whisper-large-v3-turbo',
      body: { audio: '', task: 'translate', initial_prompt: 'Names: Kenobi' },
    })
    const params = { model: 'm', file, language: 'de' }
    expect((await sentBy(requestOf({ task: 'transcribe', params }))).body).toEqual({
      audio: '',
      task: 'transcribe',
      language: 'de',
    })
  })

  test('answers with segments, words and the time that it bills', () => {
    const words = [{ word: ' Hello', start: 0, end: 0.5 }]
    const result = {
      transcription_info: { language: 'de', duration: 1.25 },
      text: ' Hello there.',
      segments: [{ start: 0, end: 1.25, text: ' Hello there.', words }],
    }
    expect(cloudflare.read({ result, success: true }, requestOf(), sampleSource)).toEqual({
      transcript: {
        text: 'Hello there.',
        language: 'de',
        duration: 1.25,
        words: [{ text: 'Hello', start: 0, end: 0.5 }],
        segments: [{ text: 'Hello there.', start: 0, end: 1.25 }],
      },
      usage: { tokens: undefined, audioMs: 1250 },
    })
  })
})

describe('LLM Speech', () => {
  test('receives a definition with the task, and English as its target', () => {
    expect(definitionOf({ upstreamModel: 'llm-speech' })).toEqual({
      enhancedMode: {
        enabled: true,
        task: 'translate',
        targetLanguage: 'en',
        prompt: ['Names: Kenobi'],
      },
    })
    const params = { model: 'm', file }
    const named = { upstreamModel: 'mai-transcribe-1', task: 'transcribe', params } as const
    expect(definitionOf(named)).toEqual({
      enhancedMode: { enabled: true, model: 'mai-transcribe-1', task: 'transcribe' },
    })
  })

  test('answers with phrases, and the time that it bills', () => {
    const phrase = { text: 'Hello there.', offsetMilliseconds: 40, durationMilliseconds: 960 }
    const answer = {
      durationMilliseconds: 1250,
      combinedPhrases: [{ text: 'Hello there.' }],
      phrases: [{ ...phrase, words: [], locale: 'en-US' }],
    }
    expect(azureSpeech.read(answer, requestOf(), sampleSource)).toEqual({
      transcript: {
        text: 'Hello there.',
        language: 'en-US',
        duration: 1.25,
        words: [],
        segments: [{ text: 'Hello there.', start: 0.04, end: 1 }],
      },
      usage: { tokens: undefined, audioMs: 1250 },
    })
  })
})

test.each([
  ['Workers AI', cloudflare],
  ['LLM Speech', azureSpeech],
])('%s names no speakers, and an answer without a text is invalid', (_name, format) => {
  expect(() => format.write(requestOf({ format: 'diarized_json' }))).toThrow(ApiError)
  expect(() => format.read({ success: true }, requestOf(), sampleSource)).toThrow(ApiError)
})
