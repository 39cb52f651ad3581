import { describe, expect, test } from 'bun:test'
import { bodyOf, call, chatOf, target } from './chat-for-tests'
import { google } from './index'
import { isObject, type JsonObject } from '../../wire/json-body'

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
const now = { type: 'function', function: { name: 'now' } }

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
        tool_calls: [call('call_9', 'weather', '{"city":"Oslo"}')],
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

describe('where the instructions go', () => {
  const messages = [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content: 'Hi' },
  ]

  test('Gemma has none: they stand in front of the first turn', () => {
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

  test('an image among them is refused', () => {
    const content = [{ type: 'image_url', image_url: { url: 'data:image/png;base64,iVBO' } }]
    expect(() => bodyOf({ messages: [{ role: 'system', content }] })).toThrow(
      'Instructions can only be text.',
    )
  })
})

describe('sampling', () => {
  const configOf = (fields: JsonObject, model = 'gemini-2.0-flash') =>
    bodyOf(fields, model)['generationConfig']

  test('nothing asked is nothing sent', () => expect(configOf({})).toBeUndefined())

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
  ])('a seed of 64 bits fits into 32: %p becomes %p', (seed, sent) => {
    expect(configOf({ seed })).toEqual({ seed: sent })
  })

  test('one stop text is a list, an empty one is none', () => {
    expect(configOf({ stop: '\n' })).toEqual({ stopSequences: ['\n'] })
    expect(configOf({ stop: '' })).toBeUndefined()
  })
})

describe('reasoning effort', () => {
  const thinkingOf = (model: string, effort: string | undefined, reasoning = true) => {
    const own = { capabilities: { ...target(model).capabilities, reasoning } }
    const body = bodyOf({ reasoning_effort: effort }, model, own)
    const config = body['generationConfig']
    return isObject(config) ? config['thinkingConfig'] : undefined
  }
  const shown = { includeThoughts: true }

  test.each([
    ['gemini-3-pro-preview', 'none', { thinkingLevel: 'low' }],
    ['gemini-3-pro-preview', 'minimal', { ...shown, thinkingLevel: 'low' }],
    ['gemini-3-pro-preview', 'medium', { ...shown, thinkingLevel: 'high' }],
    ['gemini-3.1-pro-preview', 'medium', { ...shown, thinkingLevel: 'medium' }],
    ['gemini-3-flash-preview', 'none', { thinkingLevel: 'minimal' }],
    ['gemini-3.8-flash', 'minimal', { ...shown, thinkingLevel: 'low' }],
    ['gemini-flash-latest', 'high', { ...shown, thinkingLevel: 'high' }],
    ['gemini-4-argon', 'max', { ...shown, thinkingLevel: 'high' }],
    ['gemini-2.5-flash', 'none', { thinkingBudget: 0 }],
    ['gemini-2.5-flash', 'medium', { ...shown, thinkingBudget: 8192 }],
    ['gemini-2.5-flash-lite', 'minimal', { ...shown, thinkingBudget: 1024 }],
    ['gemini-2.5-pro', 'none', { thinkingBudget: 128 }],
    ['gemini-2.5-pro', 'max', { ...shown, thinkingBudget: 32_768 }],
    ['gemini-2.5-pro', undefined, shown],
    ['gemini-2.0-flash', 'high', undefined],
    ['gemma-3-27b-it', 'high', undefined],
  ])('%s, %p: %p', (model, effort, config) => {
    expect(thinkingOf(model, effort)).toEqual(config)
  })

  test('a model that does not reason is not asked to', () => {
    expect(thinkingOf('gemini-2.5-flash-image', 'high', false)).toBeUndefined()
  })
})

describe('the choice among tools', () => {
  const choose = (choice: unknown, tools: unknown[] = [weather, now]) =>
    bodyOf({ tools, tool_choice: choice })
  const config = (fields: JsonObject) => ({ toolConfig: { functionCallingConfig: fields } })

  test.each([
    [undefined, { mode: 'AUTO' }],
    ['auto', { mode: 'AUTO' }],
    ['none', { mode: 'NONE' }],
    ['required', { mode: 'ANY' }],
    [
      { type: 'function', function: { name: 'now' } },
      { mode: 'ANY', allowedFunctionNames: ['now'] },
    ],
  ])('%p', (choice, sent) => {
    expect(choose(choice)).toMatchObject(config(sent))
  })

  test('strict tools are checked, unless a call is demanded', () => {
    const strict = { type: 'function', function: { ...now.function, strict: true } }
    expect(choose('auto', [strict])).toMatchObject(config({ mode: 'VALIDATED' }))
    expect(choose('required', [strict])).toMatchObject(config({ mode: 'ANY' }))
  })

  test.each([
    ['auto', 'AUTO'],
    ['required', 'ANY'],
  ])('allowed tools, %s: the others are not declared', (mode, sent) => {
    const tools = [{ type: 'function', function: { name: 'now' } }]
    const body = choose({ type: 'allowed_tools', allowed_tools: { mode, tools } })
    expect(body).toMatchObject(config({ mode: sent }))
    expect(body['tools']).toEqual([{ functionDeclarations: [{ name: 'now' }] }])
  })

  test('allowed tools that are none of those sent are refused', () => {
    const choice = { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [] } }
    expect(() => choose(choice)).toThrow('No such tool was sent.')
  })

  test('without tools there is no choice', () => {
    expect(bodyOf({ tool_choice: 'required', tools: [] })).not.toHaveProperty('toolConfig')
  })
})

describe('answers in JSON', () => {
  const schema = {
    type: 'object',
    properties: {
      kind: { const: 'pear' },
      const: { type: 'string', enum: ['a'] },
      either: { oneOf: [{ const: 1 }, { $ref: '#/$defs/size' }] },
    },
    $defs: { size: { const: null, default: { const: 2 } } },
    required: ['kind'],
  }
  const asked = { type: 'json_schema', json_schema: { name: 'fruit', schema } }
  const configOf = (body: JsonObject) => body['generationConfig']
  const wanted = {
    responseMimeType: 'application/json',
    responseJsonSchema: {
      type: 'object',
      properties: {
        kind: { enum: ['pear'] },
        const: { type: 'string', enum: ['a'] },
        either: { oneOf: [{ enum: [1] }, { $ref: '#/$defs/size' }] },
      },
      $defs: { size: { enum: [null], default: { const: 2 } } },
      required: ['kind'],
    },
  }

  test('a schema, in which only a real `const` is an `enum`', () => {
    expect(configOf(bodyOf({ response_format: asked }, 'gemini-2.0-flash'))).toEqual(wanted)
  })

  test('any JSON', () => {
    const fields = { response_format: { type: 'json_object' } }
    expect(configOf(bodyOf(fields, 'gemini-2.0-flash'))).toEqual({
      responseMimeType: 'application/json',
    })
  })

  test('with tools: Gemini 3 does both, with an unchecked choice', () => {
    const strict = { type: 'function', function: { name: 'now', strict: true } }
    const body = bodyOf({ response_format: asked, tools: [strict] })
    expect(configOf(body)).toMatchObject(wanted)
    expect(body).toMatchObject({ toolConfig: { functionCallingConfig: { mode: 'AUTO' } } })
  })

  test('with tools: older models refuse, by the name of the field', () => {
    const ask = () => bodyOf({ response_format: asked, tools: [now] }, 'gemini-2.5-pro')
    expect(ask).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        param: 'response_format',
        details: { issue: 'unsupported_by_model' },
      }),
    )
  })

  test.each(['gemini-2.5-pro', 'gemini-3-pro-preview'])(
    'with a demanded call the form of another answer is moot, with none tools are: %s',
    (model) => {
      const demanded = bodyOf(
        { response_format: asked, tools: [now], tool_choice: 'required' },
        model,
      )
      expect(demanded).toHaveProperty('tools')
      expect(configOf(demanded)).not.toHaveProperty('responseMimeType')
      const without = bodyOf({ response_format: asked, tools: [now], tool_choice: 'none' }, model)
      expect(without).not.toHaveProperty('tools')
      expect(configOf(without)).toMatchObject(wanted)
    },
  )
})

test.each([
  ['n', 2],
  ['modalities', ['text', 'audio']],
  ['web_search_options', {}],
])('%s %p has no counterpart and is refused', (param, value) => {
  expect(() => bodyOf({ [param]: value })).toThrow(
    expect.objectContaining({ param, details: { issue: 'unsupported_by_model' } }),
  )
})

test('one choice and text alone are what there is', () => {
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
