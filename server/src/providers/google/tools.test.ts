import { describe, expect, test } from 'bun:test'
import { bodyOf } from '../../../testing/providers/google-chat'
import type { JsonObject } from '../../wire/json-body'

const weather = { type: 'function', function: { name: 'weather' } }
const now = { type: 'function', function: { name: 'now' } }
const choose = (choice: unknown, tools: unknown[] = [weather, now]) =>
  bodyOf({ tools, tool_choice: choice })
const config = (fields: JsonObject) => ({ toolConfig: { functionCallingConfig: fields } })
const configOf = (body: JsonObject) => body['generationConfig']

describe('the choice among tools', () => {
  test.each([
    [undefined, { mode: 'AUTO' }],
    ['auto', { mode: 'AUTO' }],
    ['none', { mode: 'NONE' }],
    ['required', { mode: 'ANY' }],
    [
      { type: 'function', function: { name: 'now' } },
      { mode: 'ANY', allowedFunctionNames: ['now'] },
    ],
  ])('%p becomes that of Gemini', (choice, expected) => {
    expect(choose(choice)).toMatchObject(config(expected))
  })

  test('strict tools are checked, unless a call is demanded', () => {
    const strict = { type: 'function', function: { ...now.function, strict: true } }
    expect(choose('auto', [strict])).toMatchObject(config({ mode: 'VALIDATED' }))
    expect(choose('required', [strict])).toMatchObject(config({ mode: 'ANY' }))
  })

  test.each([
    ['auto', 'AUTO'],
    ['required', 'ANY'],
  ])('allowed tools, %s: the others are not declared', (mode, expected) => {
    const tools = [{ type: 'function', function: { name: 'now' } }]
    const body = choose({ type: 'allowed_tools', allowed_tools: { mode, tools } })
    expect(body).toMatchObject(config({ mode: expected }))
    expect(body['tools']).toEqual([{ functionDeclarations: [{ name: 'now' }] }])
  })

  test('allowed tools missing from the sent ones are rejected', () => {
    const choice = { type: 'allowed_tools', allowed_tools: { mode: 'auto', tools: [] } }
    expect(() => choose(choice)).toThrow('The tool is not in tools.')
  })

  test('without tools the choice is dropped', () => {
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
  const format = { type: 'json_schema', json_schema: { name: 'fruit', schema } }
  const expectedConfig = {
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
    expect(configOf(bodyOf({ response_format: format }, 'gemini-2.0-flash'))).toEqual(
      expectedConfig,
    )
  })

  test('any JSON', () => {
    const fields = { response_format: { type: 'json_object' } }
    expect(configOf(bodyOf(fields, 'gemini-2.0-flash'))).toEqual({
      responseMimeType: 'application/json',
    })
  })

  test('with tools: Gemini 3 does both, with an unchecked choice', () => {
    const strict = { type: 'function', function: { name: 'now', strict: true } }
    const body = bodyOf({ response_format: format, tools: [strict] })
    expect(configOf(body)).toMatchObject(expectedConfig)
    expect(body).toMatchObject({ toolConfig: { functionCallingConfig: { mode: 'AUTO' } } })
  })

  test('with tools: older models refuse, by the name of the field', () => {
    const fields = { response_format: format, tools: [now] }
    expect(() => bodyOf(fields, 'gemini-2.5-pro')).toThrow(
      expect.objectContaining({
        code: 'invalid_request',
        param: 'response_format',
        details: { issue: 'unsupported_by_model' },
      }),
    )
  })

  test.each(['gemini-2.5-pro', 'gemini-3-pro-preview'])(
    'with a demanded call an answer format is dropped, with none tools are: %s',
    (model) => {
      const demanded = bodyOf(
        { response_format: format, tools: [now], tool_choice: 'required' },
        model,
      )
      expect(demanded).toHaveProperty('tools')
      expect(configOf(demanded)).not.toHaveProperty('responseMimeType')
      const without = bodyOf({ response_format: format, tools: [now], tool_choice: 'none' }, model)
      expect(without).not.toHaveProperty('tools')
      expect(configOf(without)).toMatchObject(expectedConfig)
    },
  )
})
