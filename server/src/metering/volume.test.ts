import { describe, expect, test } from 'bun:test'
import * as fc from '../../testing/property'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { toInputs, type EmbeddingRequest } from '../wire/embedding-request'
import type { JsonObject } from '../wire/json-body'
import { boundChat, boundCompletion, boundEmbedding } from './volume'

const model = { upstreamModel: 'gpt-4o', contextLength: 128_000, maxOutputTokens: 16_384 }
const chat = (fields: JsonObject) => ({ model: 'openai/gpt-4o', ...fields })
const saying = (...content: unknown[]) => [{ role: 'user', content }]
const hello = { messages: [{ role: 'user', content: 'Hello' }] }
const bytesOf = (body: object) => Buffer.byteLength(JSON.stringify(body))
const chatOf = (fields: JsonObject, own: Partial<Parameters<typeof boundChat>[1]> = {}) => {
  const body = chat(fields)
  return boundChat(body, { bytes: bytesOf(body), model, ...own })
}

const image = (url: string) => ({ type: 'image_url', image_url: { url } })
const photo = image(`data:image/png;base64,${'A'.repeat(2_000_000)}`)
const sound = { type: 'input_audio', input_audio: { data: 'A'.repeat(60_000), format: 'mp3' } }
const file = { type: 'file', file: { file_data: `data:application/pdf;base64,AAAA` } }

describe('a chat', () => {
  test('reads at most its bytes, and the tokens of templates', () => {
    const { inputTokens, maxPromptTokens, ...rest } = chatOf(hello)
    expect(inputTokens).toBe(bytesOf(chat(hello)) + 16 + 1024)
    expect(maxPromptTokens).toBe(inputTokens)
    expect(rest).toEqual({
      choices: 1,
      outputLimit: 16_384,
      extraOutputTokens: 0,
      inputsAudio: false,
      outputsAudio: false,
      images: 0,
      requests: 1,
      serviceTier: undefined,
      searches: 0,
    })
  })

  test('M36: the bound holds where every byte is a token', () => {
    const text = fc.oneof(fc.string({ unit: 'binary' }), fc.string({ unit: 'grapheme' }))
    const property = fc.property(text, (content) => {
      const { inputTokens } = chatOf({ messages: [{ role: 'user', content }] })
      expect(inputTokens).toBeGreaterThan(Buffer.byteLength(content))
      expect(inputTokens).toBeGreaterThan(countTokens(content, { disallowedSpecial: new Set() }))
    })
    fc.assert(property, { numRuns: 500 })
  })

  test('writes once per choice, with a rejected prediction each time', () => {
    const prediction = { type: 'content', content: 'x'.repeat(100) }
    const volume = chatOf({ ...hello, n: 3, prediction })
    expect(volume).toMatchObject({ choices: 3, extraOutputTokens: 3 * bytesOf(prediction) })
  })

  test('with tools reads their explanation too', () => {
    const tools = [{ type: 'function', function: { name: 'f' } }]
    const more = bytesOf(chat({ ...hello, tools })) - bytesOf(chat(hello))
    const added = chatOf({ ...hello, tools }).inputTokens - chatOf(hello).inputTokens
    expect(added).toBe(more + 1024)
  })

  test('with tools that its provider runs reads its context again after each use, as far as that goes', () => {
    const once = chatOf(hello).inputTokens
    const searching = { searches: 2, rounds: 3 }
    expect(chatOf(hello, { hostedUses: searching })).toMatchObject({
      inputTokens: once + 3 * 128_000,
      maxPromptTokens: 128_000,
      searches: 2,
    })
    const bounded = chatOf(hello, { hostedUses: { ...searching, maxContext: 50_000 } })
    expect(bounded).toMatchObject({ inputTokens: once + 3 * 50_000, maxPromptTokens: 50_000 })
    // What is asked is read in any case.
    const long = { messages: saying('a'.repeat(60_000)) }
    const { inputTokens, maxPromptTokens } = chatOf(long, {
      hostedUses: { ...searching, maxContext: 100 },
    })
    expect([inputTokens, maxPromptTokens]).toEqual([
      4 * maxPromptTokens,
      chatOf(long).maxPromptTokens,
    ])
  })

  test('uses sound only if requested or sent', () => {
    expect(chatOf({ ...hello, modalities: ['text', 'audio'] }).outputsAudio).toBeTrue()
    expect(chatOf({ ...hello, modalities: ['text'] }).outputsAudio).toBeFalse()
    expect(chatOf({ messages: saying(sound) }).inputsAudio).toBeTrue()
    expect(chatOf({ messages: [{ role: 'assistant', audio: { id: 'a' } }] }).inputsAudio).toBeTrue()
  })

  test('an image has its own bound, be it an address or two megabytes', () => {
    const near = chatOf({ messages: saying(photo) })
    const far = chatOf({ messages: saying(image('https://example.com/cat.png')) })
    for (const { inputTokens, images } of [near, far]) {
      expect(images).toBe(1)
      expect(inputTokens).toBeGreaterThan(16_400)
      expect(inputTokens).toBeLessThan(18_000)
    }
    const dear = { ...model, upstreamModel: 'gpt-4o-mini-2024-07-18' }
    expect(chatOf({ messages: saying(photo) }, { model: dear }).inputTokens).toBeGreaterThan(48_169)
  })

  test('sound and files have bounds too, and nothing is beyond the context', () => {
    expect(chatOf({ messages: saying(sound) }).inputTokens).toBeGreaterThan(3000)
    expect(chatOf({ messages: saying(sound) }).inputTokens).toBeLessThan(5000)
    const filed = chatOf({ messages: saying(file, file, photo) }).inputTokens
    expect(filed).toBeGreaterThan(128_000)
    expect(filed).toBeLessThan(130_000)
    const unknown = { ...model, contextLength: null }
    const boundless = chatOf({ messages: saying(file) }, { model: unknown })
    expect(boundless.inputTokens).toBeGreaterThan(500_000)
  })

  test('text that looks like data is text', () => {
    const text = `data:image/png;base64,${'A'.repeat(5000)}`
    const { inputTokens } = chatOf({ messages: saying({ type: 'text', text }) })
    expect(inputTokens).toBeGreaterThan(5000)
  })

  test('sent once for each choice, is read as often', () => {
    const once = chatOf({ messages: saying(photo), n: 2 })
    const twice = chatOf({ messages: saying(photo), n: 2 }, { repeats: 2 })
    expect(twice).toEqual({ ...once, inputTokens: 2 * once.inputTokens, images: 2, requests: 2 })
  })
})

describe('the output limit', () => {
  const long = { messages: [{ role: 'user', content: 'x'.repeat(240_000) }] }

  interface Row {
    body?: JsonObject
    own?: Partial<typeof model>
    requested?: number
    wanted: number
  }
  test.each<[string, Row]>([
    ['is the requested maximum', { requested: 7, wanted: 7 }],
    ['is the model’s where none was requested', { wanted: 16_384 }],
    ['is the model’s where zero was requested', { requested: 0, wanted: 16_384 }],
    [
      'is the requested maximum, however long the prompt',
      { body: long, requested: 16_000, wanted: 16_000 },
    ],
    ['leaves room for the prompt', { body: long, wanted: 128_000 - bytesOf(chat(long)) / 2 }],
    [
      'is not below the usual for a long prompt',
      { body: long, own: { contextLength: 60_000 }, wanted: 4096 },
    ],
    ['is not above a small model’s', { body: long, own: { maxOutputTokens: 1000 }, wanted: 1000 }],
  ])('%s', (_what, { body = hello, own, requested, wanted }) => {
    const volume = chatOf(body, { model: { ...model, ...own }, outputLimit: requested })
    expect(volume.outputLimit).toBe(Math.floor(wanted))
  })

  test('is a fixed one where the model’s maximum is unknown', () => {
    const unknown = { ...model, contextLength: null, maxOutputTokens: null }
    expect(chatOf(hello, { model: unknown }).outputLimit).toBe(8192)
  })
})

const completing = (fields: JsonObject) => boundCompletion({ model: 'm', ...fields }, { model })
const embedding = (input: EmbeddingRequest['input'], decodes = false) =>
  boundEmbedding(toInputs(input), { model, decodes, requests: 1 })

describe('a legacy completion', () => {
  test.each<[JsonObject, number]>([
    [{ prompt: 'a' }, 1],
    [{ prompt: 'a', n: 2, best_of: 0 }, 2],
    [{ prompt: 'a', n: 2, best_of: 5 }, 5],
    [{ prompt: ['a', 'b', 'c'] }, 3],
    [{ prompt: ['a', 'b', 'c'], n: 2, best_of: 4 }, 12],
    [{ prompt: [1, 2, 3] }, 1],
    [{ prompt: [[1, 2], [3]], n: 8 }, 16],
  ])('%j writes %p answers', (fields, choices) => {
    expect(completing(fields).choices).toBe(choices)
  })

  test('reads its suffix with each prompt', () => {
    const prompt = Array.from({ length: 128 }, () => 'a')
    const suffix = 'x'.repeat(10_000)
    expect(completing({ prompt, suffix }).inputTokens).toBeGreaterThan(128 * 10_000)
  })

  test('reads as many tokens as were sent', () => {
    const few = completing({ prompt: [1] }).inputTokens
    expect(completing({ prompt: Array.from({ length: 500 }, () => 1) }).inputTokens).toBe(few + 499)
  })

  test('with a prompt that only echoes writes at most one token', () => {
    expect(completing({ prompt: 'a', echo: true, max_tokens: 0 }).outputLimit).toBe(1)
  })

  test('has no paid fields of a chat', () => {
    const prediction = { type: 'content', content: 'x' }
    const volume = completing({ prompt: ['a', 'b'], modalities: ['audio'], prediction })
    expect(volume).toMatchObject({ outputsAudio: true, extraOutputTokens: 2 * bytesOf(prediction) })
  })
})

describe('an embedding', () => {
  test('reads at most the bytes of its texts, and writes nothing', () => {
    expect(embedding('äöü')).toMatchObject({ inputTokens: 6 + 32, choices: 0, outputLimit: 0 })
    expect(embedding(['ab', 'c']).inputTokens).toBe(3 + 64)
  })

  test('token ids that become text again may be bytes to another model', () => {
    expect(embedding([1, 2, 3]).inputTokens).toBe(3 + 32)
    expect(embedding([[1, 2], [3]]).inputTokens).toBe(3 + 64)
    expect(embedding([[1, 2], [3]], true).inputTokens).toBe(3 * 128 + 64)
  })

  test('counts images as pieces, and as their maximum of tokens, for any size', () => {
    const data = `data:image/png;base64,${'A'.repeat(2_000_000)}`
    const content = [
      { type: 'text' as const, text: 'abc' },
      { type: 'image_url' as const, image_url: { url: 'https://images.example/a.png' } },
    ]
    const { inputTokens, images } = embedding([{ content }, { image: data }, 'de'])
    expect(images).toBe(2)
    expect(inputTokens).toBe(3 + 2 + 3 * 32 + 2 * 16_400)
  })
})

test('the longest prompt of a legacy completion is one whole request, including the parts beside it', () => {
  const volumeOf = (prompt: string | string[]) =>
    boundCompletion(
      { prompt, suffix: 'x'.repeat(500) },
      { model: { ...model, contextLength: null } },
    )
  const alone = volumeOf('Hello')
  expect(alone.maxPromptTokens).toBe(alone.inputTokens)
  const several = volumeOf(['Hello', 'Hi', 'Good day, all'])
  expect(several.maxPromptTokens).toBe(volumeOf('Good day, all').inputTokens)
  const limited = boundCompletion(
    { prompt: 'x'.repeat(9000) },
    { model: { ...model, contextLength: 4096 } },
  )
  expect(limited.maxPromptTokens).toBe(4096)
})
