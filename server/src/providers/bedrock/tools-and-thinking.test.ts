import { describe, expect, test } from 'bun:test'
import { bodyOf, sampleCall, sampleUser } from '../../../testing/providers/bedrock-samples'
import { sampleTool } from '../../../testing/providers/samples'
import { isObject, type JsonObject } from '../../wire/json-body'

const claude = 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0'
const answered = (...messages: JsonObject[]) => ({ messages, tools: [sampleTool('look')] })

const inLoop = [
  sampleUser('a'),
  { role: 'assistant', content: null, tool_calls: [sampleCall('c1', 'look')] },
  { role: 'tool', tool_call_id: 'c1', content: [{ type: 'text', text: 'found' }] },
]

describe('tools', () => {
  test.each([
    ['auto', undefined],
    ['required', { any: {} }],
    [{ type: 'function', function: { name: 'look' } }, { tool: { name: 'look' } }],
  ])('choice %j becomes that of Bedrock', (choice, expected) => {
    const tools = [sampleTool('look'), sampleTool('book')]
    const { toolConfig } = bodyOf({ tools, tool_choice: choice })
    expect(toolConfig).toMatchObject({ tools: [{}, {}] })
    expect(isObject(toolConfig) && toolConfig['toolChoice']).toEqual(expected)
  })

  test('some of them: the others are not sent', () => {
    const tools = [sampleTool('look'), sampleTool('book')]
    const allowed = { mode: 'required', tools: [{ type: 'function', function: { name: 'book' } }] }
    const choice = { type: 'allowed_tools', allowed_tools: allowed }
    expect(bodyOf({ tools, tool_choice: choice })['toolConfig']).toMatchObject({
      tools: [{ toolSpec: { name: 'book' } }],
      toolChoice: { any: {} },
    })
  })

  test('no tools at all', () => {
    const choice = { type: 'allowed_tools', allowed_tools: { mode: 'required', tools: [] } }
    expect(bodyOf({ tools: [sampleTool('look')], tool_choice: choice })).not.toHaveProperty(
      'toolConfig',
    )
  })

  test('none: sends no tools, and earlier calls as text', () => {
    for (const fields of [{ tools: [sampleTool('look')], tool_choice: 'none' }, {}]) {
      const body = bodyOf({ messages: inLoop, ...fields })
      expect(body).not.toHaveProperty('toolConfig')
      expect(body['messages']).toEqual([
        { role: 'user', content: [{ text: 'a' }] },
        { role: 'assistant', content: [{ text: 'Called look with {}' }] },
        { role: 'user', content: [{ text: 'Result of look:' }, { text: 'found' }] },
      ])
    }
  })

  test('a choice goes to every model, which may refuse it', () => {
    const fields = { tools: [sampleTool('look')], tool_choice: 'required' }
    for (const model of ['meta.llama3-1-70b-instruct-v1:0', 'us.amazon.nova-pro-v1:0']) {
      expect(bodyOf(fields, model)).toMatchObject({ toolConfig: { toolChoice: { any: {} } } })
    }
    expect(bodyOf(fields, 'anthropic.claude-sonnet-5-5')['toolConfig']).not.toHaveProperty(
      'toolChoice',
    )
  })

  test('ids of Mistral’s models have nine characters', () => {
    const { messages } = bodyOf(answered(...inLoop), 'mistral.mistral-large-2407-v1:0')
    const ids = JSON.stringify(messages).match(/"toolUseId":"([A-Za-z0-9]{9})"/g)
    expect(ids).toHaveLength(2)
    expect(new Set(ids).size).toBe(1)
  })

  test('parameters have an object at their root', () => {
    const tool = sampleTool('now', { parameters: undefined })
    expect(bodyOf({ tools: [tool] })['toolConfig']).toMatchObject({
      tools: [{ toolSpec: { inputSchema: { json: { type: 'object', properties: {} } } } }],
    })
  })
})

const schema = {
  $defs: { a: { const: 1 } },
  type: 'object',
  properties: { name: { $ref: '#/$defs/a' } },
}
const format = { type: 'json_schema', json_schema: { name: 'person', schema } }

const write = (targetFields = {}) =>
  bodyOf({ response_format: format }, 'meta.llama3-8b-v1:0', targetFields)

describe('a form of answer', () => {
  test('is native where the model knows it', () => {
    const body = bodyOf({ response_format: format })
    expect(body['outputConfig']).toEqual({
      textFormat: {
        type: 'json_schema',
        structure: {
          jsonSchema: {
            name: 'person',
            schema: JSON.stringify({ ...schema, additionalProperties: false }),
          },
        },
      },
    })
    expect(body).not.toHaveProperty('toolConfig')
  })

  test('is a tool without native support, beside the caller’s own', () => {
    const body = bodyOf({ response_format: format }, 'us.amazon.nova-lite-v1:0')
    expect(body['toolConfig']).toMatchObject({
      tools: [{ toolSpec: { name: 'tollgate_answer', inputSchema: { json: schema } } }],
      toolChoice: { tool: { name: 'tollgate_answer' } },
    })
    const tools = [sampleTool('look')]
    expect(bodyOf({ response_format: format, tools }, 'us.amazon.nova-lite-v1:0')).toMatchObject({
      toolConfig: { tools: [{}, {}], toolChoice: { any: {} } },
    })
  })

  test('is rejected where a tool cannot give it', () => {
    const list = { type: 'json_schema', json_schema: { name: 'x', schema: { type: 'array' } } }
    expect(() => bodyOf({ response_format: list }, 'us.amazon.nova-lite-v1:0')).toThrow(
      expect.objectContaining({ param: 'response_format.json_schema.schema' }),
    )
  })

  test('is rejected where there is neither', () => {
    const capabilities = { reasoning: false, tools: true, vision: false, jsonSchema: false }
    expect(() => write({ capabilities })).toThrow(
      expect.objectContaining({ param: 'response_format' }),
    )
    expect(write()).toHaveProperty('outputConfig')
  })

  test('for any JSON becomes an instruction in words', () => {
    const { system } = bodyOf({ response_format: { type: 'json_object' } })
    expect(system).toEqual([{ text: 'Answer with one JSON object and nothing else.' }])
  })

  test.each([
    [{ n: 2 }, 'n'],
    [{ modalities: ['text', 'audio'] }, 'modalities'],
  ])('%o is rejected', (fields, param) => {
    const refused = { code: 'invalid_request', param, details: { issue: 'unsupported_by_model' } }
    expect(() => bodyOf(fields)).toThrow(expect.objectContaining(refused))
  })
})

const fieldsOf = (effort: string, model: string, target = {}) =>
  bodyOf({ reasoning_effort: effort, temperature: 0.5 }, model, target)[
    'additionalModelRequestFields'
  ]

const budget = (maxTokens: number | undefined, effort = 'medium') =>
  fieldsOf(effort, claude, { maxTokens })
describe('thinking', () => {
  test.each([
    [
      'anthropic.claude-opus-4-6-v1',
      'high',
      { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'high' } },
    ],
    [
      'us.anthropic.claude-opus-4-7',
      'minimal',
      { thinking: { type: 'adaptive', display: 'summarized' }, output_config: { effort: 'low' } },
    ],
    ['anthropic.claude-opus-4-7', 'none', { thinking: { type: 'disabled' } }],
    ['anthropic.claude-opus-5-5', 'none', { output_config: { effort: 'low' } }],
    [
      'us.amazon.nova-2-lite-v1:0',
      'high',
      { reasoningConfig: { type: 'enabled', maxReasoningEffort: 'medium' } },
    ],
    ['us.amazon.nova-2-lite-v1:0', 'none', { reasoningConfig: { type: 'disabled' } }],
    ['openai.gpt-oss-120b-1:0', 'xhigh', { reasoning_effort: 'high' }],
    ['in.openai.gpt-5.6-luna', 'xhigh', { reasoning_effort: 'xhigh' }],
    ['us.amazon.nova-pro-v1:0', 'high', undefined],
    ['anthropic.claude-3-haiku-20240307-v1:0', 'none', undefined],
  ])('%s, %s', (model, effort, expected) => expect(fieldsOf(effort, model)).toEqual(expected))

  test('a budget is a share of the paid limit, and never all of it', () => {
    expect(budget(8000)).toEqual({ thinking: { type: 'enabled', budget_tokens: 4000 } })
    expect(budget(2048, 'low')).toEqual({ thinking: { type: 'enabled', budget_tokens: 1024 } })
    expect(budget(1024)).toBeUndefined()
    expect(budget(undefined, 'low')).toEqual({
      thinking: { type: 'enabled', budget_tokens: 12_800 },
    })
  })

  test('while it thinks, a Claude takes no temperature and no forced call', () => {
    const body = bodyOf(
      {
        reasoning_effort: 'high',
        temperature: 0.5,
        top_p: 0.5,
        tools: [sampleTool('look')],
        tool_choice: 'required',
      },
      claude,
      { maxTokens: 4000 },
    )
    expect(body['inferenceConfig']).toEqual({ maxTokens: 4000 })
    expect(body['toolConfig']).not.toHaveProperty('toolChoice')
  })

  test('in a loop whose thoughts the client lost it does not think on', () => {
    const effort = { reasoning_effort: 'high', tools: [sampleTool('look')] }
    const details = [{ type: 'reasoning.text', text: 'Hm.', signature: 's', format: 'bedrock' }]
    const unchanged = inLoop.map((message) =>
      message.role === 'assistant' ? { ...message, reasoning_details: details } : message,
    )
    const model = 'anthropic.claude-opus-4-6-v1'
    const thinks = (messages: JsonObject[], target = {}) =>
      JSON.stringify(bodyOf({ messages, ...effort }, model, target)).includes('adaptive')
    expect(thinks(inLoop)).toBeFalse()
    expect(thinks(unchanged)).toBeTrue()
    expect(thinks(unchanged, { signatures: 'replaced' })).toBeFalse()
    expect(
      thinks([...inLoop, { role: 'assistant', content: 'done' }, sampleUser('more')]),
    ).toBeTrue()
  })
})
