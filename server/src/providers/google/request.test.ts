import { describe, expect, test } from 'bun:test'
import { bodyOf, call, chatOf, refusal, target } from '../../../testing/providers/google-chat'
import { google } from './index'
import type { JsonObject } from '../../wire/json-body'

const weather = {
  type: 'function',
  function: {
    name: 'weather',
    description: 'The weather of a city',
    parameters: {
      $schema: 'http://json-schema.org/draft-07/schema#',
      type: 'object',
      properties: { city: { type: ['string', 'null'] } },
      additionalProperties: false,
    },
  },
}

test('a rich request, as it leaves', () => {
  const chat = chatOf({
    messages: [
      { role: 'system', content: 'Be brief.' },
      {
        role: 'user',
        name: 'ada',
        content: [
          { type: 'text', text: 'Look:', cache_control: { type: 'ephemeral' } },
          { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBO', detail: 'low' } },
        ],
      },
      {
        role: 'assistant',
        content: 'I will look.',
        reasoning_content: 'private',
        tool_calls: [call('call_9', { name: 'weather', args: '{"city":"Oslo"}' })],
      },
      { role: 'tool', tool_call_id: 'call_9', content: '7 °C' },
      { role: 'developer', content: [{ type: 'text', text: 'In German.' }] },
    ],
    temperature: 1.5,
    top_p: 0.9,
    stop: ['END', 'STOP'],
    seed: 7,
    tools: [weather],
    reasoning_effort: 'low',
    user: 'u-1',
    logit_bias: { '50256': -100 },
    presence_penalty: 1,
    stream: false,
    metadata: { a: 'b' },
    unknown_field: true,
  })
  expect(google.request(chat, target('gemini-3-pro-preview', { maxTokens: 300 }))).toEqual({
    path: '/models/gemini-3-pro-preview:streamGenerateContent?alt=sse',
    omitted: ['user', 'logit_bias', 'presence_penalty', 'metadata', 'unknown_field'],
    body: {
      systemInstruction: { parts: [{ text: 'Be brief.' }, { text: 'In German.' }] },
      contents: [
        {
          role: 'user',
          parts: [{ text: 'Look:' }, { inlineData: { mimeType: 'image/png', data: 'iVBO' } }],
        },
        {
          role: 'model',
          parts: [
            { text: 'I will look.' },
            {
              functionCall: { id: 'call_9', name: 'weather', args: { city: 'Oslo' } },
              thoughtSignature: 'skip_thought_signature_validator',
            },
          ],
        },
        {
          role: 'user',
          parts: [
            {
              functionResponse: {
                id: 'call_9',
                name: 'weather',
                response: { name: 'weather', content: '7 °C' },
              },
            },
          ],
        },
      ],
      tools: [
        {
          functionDeclarations: [
            {
              name: 'weather',
              description: 'The weather of a city',
              parametersJsonSchema: weather.function.parameters,
            },
          ],
        },
      ],
      toolConfig: { functionCallingConfig: { mode: 'AUTO' } },
      generationConfig: {
        maxOutputTokens: 300,
        temperature: 1.5,
        topP: 0.9,
        seed: 7,
        stopSequences: ['END', 'STOP'],
        thinkingConfig: { includeThoughts: true, thinkingLevel: 'low' },
      },
    },
  })
})

describe('the place of the instructions', () => {
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Hi' },
  ]

  test('Gemma has none: they are put before the first turn', () => {
    const body = bodyOf({ messages }, 'gemma-3-27b-it')
    expect(body).toEqual({
      contents: [{ role: 'user', parts: [{ text: 'Be brief.' }, { text: 'Hi' }] }],
    })
  })

  test('alone they are the question', () => {
    expect(bodyOf({ messages: messages.slice(0, 1) })).toMatchObject({
      contents: [{ role: 'user', parts: [{ text: 'Be brief.' }] }],
    })
  })

  test('an image among them is rejected', () => {
    const content = [{ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBO' } }]
    expect(() => bodyOf({ messages: [{ role: 'system', content }] })).toThrow(
      'Instructions must be text.',
    )
  })
})

const configOf = (fields: JsonObject, model = 'gemini-2.0-flash') =>
  bodyOf(fields, model)['generationConfig']

describe('sampling', () => {
  test('without parameters nothing is sent', () => expect(configOf({})).toBeUndefined())

  test('penalties go to the models that take them', () => {
    const fields = { presence_penalty: 0.5, frequency_penalty: -0.5 }
    expect(configOf(fields)).toEqual({ presencePenalty: 0.5, frequencyPenalty: -0.5 })
    expect(configOf(fields, 'gemini-2.5-flash')).toEqual({
      thinkingConfig: { includeThoughts: true },
    })
  })

  test.each([
    [42, 42],
    [-9007199254740991, 1],
    [2 ** 31, -(2 ** 31)],
  ])('a seed of 64 bits fits into 32: %p becomes %p', (seed, expected) => {
    expect(configOf({ seed })).toEqual({ seed: expected })
  })

  test('one stop text becomes a list, an empty one is dropped', () => {
    expect(configOf({ stop: '\n' })).toEqual({ stopSequences: ['\n'] })
    expect(configOf({ stop: '' })).toBeUndefined()
  })
})

test.each([
  ['n', 2],
  ['web_search_options', {}],
])('%s %p has no counterpart and is rejected', (param, value) => {
  expect(() => bodyOf({ [param]: value })).toThrow(
    expect.objectContaining({ param, details: { issue: 'unsupported_by_model' } }),
  )
})

const withSound = (audio: JsonObject = {}) => ({ modalities: ['text', 'audio'], audio })

describe('sound and images in the answer', () => {
  test.each(['gemini-3.8-flash-tts', 'gemini-2.5-flash-preview-tts', 'gemini-3-tts-preview'])(
    '%s speaks, and writes no text',
    (model) => {
      const fields = withSound({ voice: 'Kore', format: 'pcm16' })
      expect(configOf(fields, model)).toMatchObject({
        responseModalities: ['AUDIO'],
        speechConfig: { voiceConfig: { prebuiltVoiceConfig: { voiceName: 'Kore' } } },
      })
    },
  )

  test('without a voice the model chooses one', () => {
    const config = { responseModalities: ['TEXT', 'AUDIO'] }
    expect(configOf(withSound())).toEqual(config)
    expect(configOf({ modalities: ['text', 'audio'] })).toEqual(config)
  })

  test('the voice of a request without sound has no effect', () => {
    const audio = { voice: { id: 'v' }, format: 'mp3' }
    expect(configOf({ modalities: ['text'], audio })).toBeUndefined()
  })

  test('a modality that is named twice is sent once', () => {
    const modalities = ['image', 'text', 'image']
    expect(configOf({ modalities })).toEqual({ responseModalities: ['IMAGE', 'TEXT'] })
  })

  test.each([
    [{ voice: { id: 'voice_1' } }, 'audio.voice'],
    [{ format: 'mp3' }, 'audio.format'],
    [{ format: 7 }, 'audio.format'],
  ])('%j is rejected by its field', (audio, param) => {
    expect(() => bodyOf(withSound(audio))).toThrow(refusal(param, 'unsupported_by_model'))
  })
})

test('one choice and text alone are the supported output', () => {
  expect(bodyOf({ n: 1, modalities: ['text'] })).toHaveProperty('contents')
})

test.each([
  ['models/gemini-2.0-flash', '/models/gemini-2.0-flash:'],
  ['tuned/a b?c', '/models/tuned/a%20b%3Fc:'],
])('the model %p is named in the path as %p', (model, path) => {
  expect(google.request(chatOf({}), target(model)).path).toStartWith(path)
})

test.each(['..', 'a/../b', 'a//b', '', './a'])('a model %p does not climb in the path', (model) => {
  expect(() => google.request(chatOf({}), target(model))).toThrow(
    expect.objectContaining({ code: 'invalid_model' }),
  )
})
