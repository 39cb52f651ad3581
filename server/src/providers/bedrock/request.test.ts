import { describe, expect, test } from 'bun:test'
import * as fc from 'fast-check'
import { bedrock } from '.'
import { anyHistory, sampleChat, sampleTarget, sampleTool } from '../samples'
import { isObject, type JsonObject } from '../../wire/json-body'

const claude = 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0'
const png = 'data:image/png;base64,iVBORw0KGgo='
const pdf = 'data:application/pdf;base64,JVBERi0='

const write = (fields: JsonObject, model = claude, target = {}) =>
  bedrock.request(sampleChat(fields), sampleTarget(model, target))
const bodyOf = (fields: JsonObject, model = claude, target = {}) =>
  write(fields, model, target).body
const user = (content: unknown) => ({ role: 'user', content })
const call = (id: string, name: string, args = '{}') => ({
  id,
  type: 'function',
  function: { name, arguments: args },
})
const answered = (...messages: JsonObject[]) => ({ messages, tools: [sampleTool('look')] })

test('the exact request for a rich one', () => {
  const made = write({
    messages: [
      { role: 'system', content: 'Be brief.' },
      user([
        { type: 'text', text: 'What is this?', cache_control: { type: 'ephemeral' } },
        { type: 'image_url', image_url: { url: png } },
        { type: 'file', file: { file_data: pdf, filename: 'Q3_report v2.pdf' } },
      ]),
      {
        role: 'assistant',
        content: 'I look.',
        tool_calls: [call('call_1', 'look', '{"q":"a"}'), call('functions.look:1', 'look', '')],
        reasoning_details: [
          { type: 'reasoning.text', text: 'Hm.', signature: 'c2ln', format: 'bedrock', index: 0 },
          { type: 'reasoning.text', text: 'Hm.', signature: 'c2ln', format: 'other', index: 1 },
        ],
      },
      { role: 'tool', tool_call_id: 'functions.look:1', content: '' },
      { role: 'tool', tool_call_id: 'call_1', content: [{ type: 'text', text: 'found' }] },
      user('And?'),
      { role: 'developer', content: 'In English.' },
    ],
    tools: [sampleTool('look', { description: 'Looks.', strict: true })],
    tool_choice: 'required',
    max_tokens: 900,
    temperature: 1.5,
    top_p: 0.9,
    stop: ['END', '\n'],
    seed: 7,
    user: 'u1',
    logit_bias: { 5: 1 },
    stream: true,
    stream_options: { include_usage: true },
    parallel_tool_calls: false,
    metadata: { a: 'b' },
  })
  expect(made).toEqual({
    path: '/model/eu.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream',
    headers: { accept: 'application/vnd.amazon.eventstream' },
    body: {
      system: [{ text: 'Be brief.' }, { text: 'In English.' }],
      messages: [
        {
          role: 'user',
          content: [
            { text: 'What is this?' },
            { cachePoint: { type: 'default' } },
            { image: { format: 'png', source: { bytes: 'iVBORw0KGgo=' } } },
            { document: { format: 'pdf', name: 'Q3 report v2', source: { bytes: 'JVBERi0=' } } },
          ],
        },
        {
          role: 'assistant',
          content: [
            { reasoningContent: { reasoningText: { text: 'Hm.', signature: 'c2ln' } } },
            { text: 'I look.' },
            { toolUse: { toolUseId: 'call_1', name: 'look', input: { q: 'a' } } },
            {
              toolUse: {
                toolUseId: expect.stringMatching(/^call_\w{32}$/),
                name: 'look',
                input: {},
              },
            },
          ],
        },
        {
          role: 'user',
          content: [
            {
              toolResult: {
                toolUseId: expect.stringMatching(/^call_\w{32}$/),
                content: [{ text: '(no output)' }],
              },
            },
            { toolResult: { toolUseId: 'call_1', content: [{ text: 'found' }] } },
            { text: 'And?' },
          ],
        },
      ],
      inferenceConfig: { maxTokens: 1000, temperature: 1, stopSequences: ['END'] },
      toolConfig: {
        tools: [
          {
            toolSpec: {
              name: 'look',
              description: 'Looks.',
              inputSchema: { json: { type: 'object', properties: { q: { type: 'string' } } } },
              strict: true,
            },
          },
        ],
        toolChoice: { any: {} },
      },
    },
  })
})

describe('messages', () => {
  test('neighbours of one role are one turn, blank texts are none', () => {
    const { messages } = bodyOf({
      messages: [
        user('a'),
        user(' '),
        user([{ type: 'text', text: 'b' }]),
        { role: 'assistant', content: 'c \n' },
      ],
    })
    expect(messages).toEqual([
      { role: 'user', content: [{ text: 'a' }, { text: 'b' }] },
      { role: 'assistant', content: [{ text: 'c' }] },
    ])
  })

  test('instructions alone are what the user says', () => {
    expect(bodyOf({ messages: [{ role: 'system', content: 'Write a haiku.' }] })).toMatchObject({
      messages: [{ role: 'user', content: [{ text: 'Write a haiku.' }] }],
    })
  })

  test('a conversation begins with the user', () => {
    const { messages } = bodyOf({
      messages: [{ role: 'assistant', content: 'Hello!' }, user('hi')],
    })
    expect(messages).toMatchObject([{ role: 'user' }, { role: 'assistant' }, { role: 'user' }])
  })

  test('a refusal of the history is text; nothing at all is refused', () => {
    const history = [user('x'), { role: 'assistant', content: null, refusal: 'No.' }, user('y')]
    expect(bodyOf({ messages: history })['messages']).toContainEqual({
      role: 'assistant',
      content: [{ text: 'No.' }],
    })
    expect(() => bodyOf({ messages: [user(' ')] })).toThrow('no text')
  })

  test('a document comes with a text, and documents with names of their own', () => {
    const file = { type: 'file', file: { file_data: pdf, filename: '../a?.pdf' } }
    expect(bodyOf({ messages: [user([file, file])] })['messages']).toMatchObject([
      {
        content: [
          { document: { name: 'a' } },
          { document: { name: 'a (2)' } },
          { text: '(a document)' },
        ],
      },
    ])
  })

  test('an address is fetched before, and its bytes are sent', () => {
    const url = 'https://example.com/cat.webp'
    const fields = { messages: [user([{ type: 'image_url', image_url: { url } }])] }
    expect(bedrock.addresses(sampleChat(fields))).toEqual([url])
    const media = new Map([[url, { mimeType: 'image/webp', base64: 'AAAA' }]])
    expect(bodyOf(fields, claude, { media })['messages']).toEqual([
      { role: 'user', content: [{ image: { format: 'webp', source: { bytes: 'AAAA' } } }] },
    ])
    expect(() => bodyOf(fields)).toThrow('png, jpeg, gif and webp')
  })

  test.each([
    [{ type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } }],
    [{ type: 'file', file: { file_id: 'file-1' } }],
    [{ type: 'file', file: { file_data: 'data:application/zip;base64,AA' } }],
    [{ type: 'image_url', image_url: { url: 'data:image/svg+xml;base64,AA' } }],
  ])('%o is refused by its place', (part) => {
    const messages = [user('a'), user([{ type: 'text', text: 'b' }, part])]
    const refused = { code: 'invalid_request', param: 'messages.1.content.1' }
    expect(() => bodyOf({ messages })).toThrow(expect.objectContaining(refused))
  })

  test('the older functions become tools, their results find their calls', () => {
    const body = bodyOf({
      messages: [
        user('a'),
        { role: 'assistant', content: null, function_call: { name: 'look', arguments: '{"q":1}' } },
        { role: 'function', name: 'look', content: 'found' },
      ],
      functions: [{ name: 'look' }],
      function_call: { name: 'look' },
    })
    expect(body['toolConfig']).toMatchObject({ toolChoice: { tool: { name: 'look' } } })
    expect(body['messages']).toMatchObject([
      {},
      { content: [{ toolUse: { toolUseId: 'call_1', input: { q: 1 } } }] },
      { content: [{ toolResult: { toolUseId: 'call_1' } }] },
    ])
  })

  test('a result without its call, and arguments that are no object, name their place', () => {
    const result = { role: 'tool', tool_call_id: 'nobody', content: 'x' }
    expect(() => bodyOf(answered(user('a'), result))).toThrow(
      expect.objectContaining({ code: 'invalid_request', param: 'messages.1.tool_call_id' }),
    )
    for (const args of ['{"a":', '[1]', '7']) {
      const said = { role: 'assistant', content: null, tool_calls: [call('c', 'look', args)] }
      expect(() => bodyOf(answered(user('a'), said))).toThrow(
        expect.objectContaining({ param: 'messages.1.tool_calls.0.function.arguments' }),
      )
    }
  })
})

const inLoop = [
  user('a'),
  { role: 'assistant', content: null, tool_calls: [call('c1', 'look')] },
  { role: 'tool', tool_call_id: 'c1', content: [{ type: 'text', text: 'found' }] },
]

describe('tools', () => {
  test.each([
    ['auto', undefined],
    ['required', { any: {} }],
    [{ type: 'function', function: { name: 'look' } }, { tool: { name: 'look' } }],
  ])('choice %p', (choice, wanted) => {
    const tools = [sampleTool('look'), sampleTool('book')]
    const { toolConfig } = bodyOf({ tools, tool_choice: choice })
    expect(toolConfig).toMatchObject({ tools: [{}, {}] })
    expect(isObject(toolConfig) && toolConfig['toolChoice']).toEqual(wanted)
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

  test('none: there are no tools, and what was called is told in words', () => {
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

  test('a model that cannot be made to call refuses to be', () => {
    const fields = { tools: [sampleTool('look')], tool_choice: 'required' }
    expect(() => bodyOf(fields, 'meta.llama3-1-70b-instruct-v1:0')).toThrow('cannot be made')
    expect(bodyOf(fields, 'us.amazon.nova-pro-v1:0')).toMatchObject({
      toolConfig: { toolChoice: { any: {} } },
    })
  })

  test('ids of Mistral’s models have nine characters', () => {
    const { messages } = bodyOf(answered(...inLoop), 'mistral.mistral-large-2407-v1:0')
    const found = JSON.stringify(messages).match(/"toolUseId":"([A-Za-z0-9]{9})"/g)
    expect(found).toHaveLength(2)
    expect(new Set(found).size).toBe(1)
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

describe('a form of answer', () => {
  test('is native where the model knows it', () => {
    const body = bodyOf({ response_format: format })
    expect(body['outputConfig']).toEqual({
      textFormat: {
        type: 'json_schema',
        structure: { jsonSchema: { name: 'person', schema: JSON.stringify(schema) } },
      },
    })
    expect(body).not.toHaveProperty('toolConfig')
  })

  test('is a tool where it is not, beside those of the caller', () => {
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

  test('is refused where there is neither', () => {
    expect(() => bodyOf({ response_format: format }, 'meta.llama3-8b-instruct-v1:0')).toThrow(
      expect.objectContaining({ param: 'response_format' }),
    )
  })

  test('of any JSON is asked for in words', () => {
    const { system } = bodyOf({ response_format: { type: 'json_object' } })
    expect(system).toEqual([{ text: 'Answer with one JSON object and nothing else.' }])
  })

  test.each([
    [{ n: 2 }, 'n'],
    [{ modalities: ['text', 'audio'] }, 'modalities'],
  ])('%o is refused', (fields, param) => {
    const refused = { code: 'invalid_request', param, details: { issue: 'unsupported_by_model' } }
    expect(() => bodyOf(fields)).toThrow(expect.objectContaining(refused))
  })
})

describe('thinking', () => {
  const fieldsOf = (effort: string, model: string, target = {}) =>
    bodyOf({ reasoning_effort: effort, temperature: 0.5 }, model, target)[
      'additionalModelRequestFields'
    ]

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
    ['us.amazon.nova-pro-v1:0', 'high', undefined],
    ['anthropic.claude-3-haiku-20240307-v1:0', 'none', undefined],
  ])('%s, %s', (model, effort, wanted) => expect(fieldsOf(effort, model)).toEqual(wanted))

  test('a budget is a share of what is paid for, and never all of it', () => {
    const budget = (maxTokens: number | undefined, effort = 'medium') =>
      fieldsOf(effort, claude, { maxTokens })
    expect(budget(8000)).toEqual({ thinking: { type: 'enabled', budget_tokens: 4000 } })
    expect(budget(1500)).toEqual({ thinking: { type: 'enabled', budget_tokens: 1024 } })
    expect(budget(1024)).toBeUndefined()
    expect(budget(undefined, 'low')).toEqual({ thinking: { type: 'enabled', budget_tokens: 2048 } })
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
    const kept = inLoop.map((message) =>
      message.role === 'assistant' ? { ...message, reasoning_details: details } : message,
    )
    const model = 'anthropic.claude-opus-4-6-v1'
    const thinks = (messages: JsonObject[], target = {}) =>
      'additionalModelRequestFields' in bodyOf({ messages, ...effort }, model, target)
    expect(thinks(inLoop)).toBeFalse()
    expect(thinks(kept)).toBeTrue()
    expect(thinks(kept, { signatures: 'replaced' })).toBeFalse()
    expect(thinks([...inLoop, { role: 'assistant', content: 'done' }, user('more')])).toBeTrue()
  })
})

/** The blocks of a kind, over all messages of a role. */
const blocksOf = (message: JsonObject | undefined, kind: string): JsonObject[] => {
  const content = message?.['content']
  return (Array.isArray(content) ? content.filter(isObject) : []).flatMap((block) => {
    const inner = block[kind]
    return isObject(inner) ? [inner] : []
  })
}

test.each([
  ['nova-lite', true],
  ['nova-lite', false],
  ['mistral.x', true],
])('whatever the history, %s (tools: %p) gets turns that its rules allow', (model, hasTools) => {
  const property = fc.property(anyHistory, (history) => {
    const tools = hasTools ? { tools: [sampleTool('look'), sampleTool('book')] } : {}
    const { messages: written, toolConfig } = bodyOf({ messages: history, ...tools }, model)
    const messages = Array.isArray(written) ? written.filter(isObject) : []
    expect(messages[0]?.['role']).toBe('user')
    for (const [index, message] of messages.entries()) {
      expect(message['role']).toBe(index % 2 === 0 ? 'user' : 'assistant')
      expect(message['content']).not.toHaveLength(0)
      const ids = blocksOf(message, 'toolResult').map(({ toolUseId }) => toolUseId)
      const asked = blocksOf(messages[index - 1], 'toolUse').map(({ toolUseId }) => toolUseId)
      expect(new Set(ids)).toEqual(new Set(asked))
      expect(new Set(ids).size).toBe(ids.length)
    }
    const text = JSON.stringify(messages)
    expect(/"text":"\s*"/.test(text)).toBeFalse()
    expect(text.includes('toolUse')).toBe(text.includes('toolResult'))
    expect(text.includes('toolUse') && toolConfig === undefined).toBeFalse()
    expect(text).not.toContain('__thought__')
    const rule = model === 'mistral.x' ? /^[A-Za-z0-9]{9}$/ : /^[a-zA-Z0-9_-]{1,64}$/
    for (const [, id = ''] of text.matchAll(/"toolUseId":"([^"]*)"/g)) expect(id).toMatch(rule)
  })
  fc.assert(property, { numRuns: 300 })
})
