import { describe, expect, test } from 'bun:test'
import { bedrock } from '.'
import { bodyOf, sampleCall, sampleUser, write } from '../../../testing/providers/bedrock-samples'
import { sampleChat, sampleTool } from '../../../testing/providers/samples'
import { type JsonObject } from '../../wire/json-body'

const [png, pdf] = ['data:image/png;base64,iVBORw0KGgo=', 'data:application/pdf;base64,JVBERi0=']
const answered = (...messages: JsonObject[]) => ({ messages, tools: [sampleTool('look')] })

test('the exact request for a rich one', () => {
  const request = write({
    messages: [
      { role: 'system', content: 'Be brief.' },
      sampleUser([
        { type: 'text', text: 'What is this?', cache_control: { type: 'ephemeral' } },
        { type: 'image_url', image_url: { url: png } },
        { type: 'file', file: { file_data: pdf, filename: 'Q3_report v2.pdf' } },
      ]),
      {
        role: 'assistant',
        content: 'I look.',
        tool_calls: [
          sampleCall('call_1', 'look', '{"q":"a"}'),
          sampleCall('functions.look:1', 'look', ''),
        ],
        reasoning_details: [
          { type: 'reasoning.text', text: 'Hm.', signature: 'c2ln', format: 'bedrock', index: 0 },
          { type: 'reasoning.text', text: 'Hm.', signature: 'c2ln', format: 'other', index: 1 },
        ],
      },
      { role: 'tool', tool_call_id: 'functions.look:1', content: '' },
      { role: 'tool', tool_call_id: 'call_1', content: [{ type: 'text', text: 'found' }] },
      sampleUser('And?'),
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
    parallel_tool_calls: false,
    metadata: { a: 'b' },
  })
  expect(request).toEqual({
    path: '/model/eu.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream',
    headers: { accept: 'application/vnd.amazon.eventstream' },
    omitted: ['top_p', 'seed', 'user', 'logit_bias', 'parallel_tool_calls', 'metadata'],
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
      additionalModelResponseFieldPaths: ['/stop_sequence'],
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

const marked = (text: string) => [{ type: 'text', text, cache_control: { type: 'ephemeral' } }]

describe('messages', () => {
  test('neighbours of one role become one turn, blank texts are dropped', () => {
    const { messages } = bodyOf({
      messages: [
        sampleUser('a'),
        sampleUser(' '),
        sampleUser([{ type: 'text', text: 'b' }]),
        { role: 'assistant', content: 'c \n' },
      ],
    })
    expect(messages).toEqual([
      { role: 'user', content: [{ text: 'a' }, { text: 'b' }] },
      { role: 'assistant', content: [{ text: 'c' }] },
    ])
  })

  test('only the last four marks of a cache are kept, and none is inside a result', () => {
    const { system, messages } = bodyOf(
      answered(
        { role: 'system', content: marked('a') },
        sampleUser(marked('b')),
        { role: 'assistant', content: marked('c'), tool_calls: [sampleCall('c1', 'look')] },
        { role: 'tool', tool_call_id: 'c1', content: marked('d') },
        sampleUser([...marked('e'), ...marked('f')]),
      ),
    )
    const cachePoint = { type: 'default' }
    expect(system).toEqual([{ text: 'a' }])
    expect(messages).toEqual([
      { role: 'user', content: [{ text: 'b' }] },
      {
        role: 'assistant',
        content: [
          { text: 'c' },
          { cachePoint },
          { toolUse: { toolUseId: 'c1', name: 'look', input: {} } },
        ],
      },
      {
        role: 'user',
        content: [
          { toolResult: { toolUseId: 'c1', content: [{ text: 'd' }] } },
          { cachePoint },
          { text: 'e' },
          { cachePoint },
          { text: 'f' },
          { cachePoint },
        ],
      },
    ])
  })

  test('instructions alone become the user’s text', () => {
    expect(bodyOf({ messages: [{ role: 'system', content: 'Write a haiku.' }] })).toMatchObject({
      messages: [{ role: 'user', content: [{ text: 'Write a haiku.' }] }],
    })
  })

  test('a conversation begins with the user', () => {
    const { messages } = bodyOf({
      messages: [{ role: 'assistant', content: 'Hello!' }, sampleUser('hi')],
    })
    expect(messages).toMatchObject([{ role: 'user' }, { role: 'assistant' }, { role: 'user' }])
  })

  test('a refusal of the history is text; nothing at all is rejected', () => {
    const history = [
      sampleUser('x'),
      { role: 'assistant', content: null, refusal: 'No.' },
      sampleUser('y'),
    ]
    expect(bodyOf({ messages: history })['messages']).toContainEqual({
      role: 'assistant',
      content: [{ text: 'No.' }],
    })
    expect(() => bodyOf({ messages: [sampleUser(' ')] })).toThrow('no text')
  })

  test('a document comes with a text, and documents with names of their own', () => {
    const file = { type: 'file', file: { file_data: pdf, filename: '../a?.pdf' } }
    expect(bodyOf({ messages: [sampleUser([file, file])] })['messages']).toMatchObject([
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
    const fields = { messages: [sampleUser([{ type: 'image_url', image_url: { url } }])] }
    expect(bedrock.addresses(sampleChat(fields))).toEqual([url])
    const media = new Map([[url, { mimeType: 'image/webp', base64: 'AAAA' }]])
    expect(bodyOf(fields, undefined, { media })['messages']).toEqual([
      { role: 'user', content: [{ image: { format: 'webp', source: { bytes: 'AAAA' } } }] },
    ])
    expect(() => bodyOf(fields)).toThrow('png, jpeg, gif and webp')
  })

  test.each([
    [{ type: 'input_audio', input_audio: { data: 'AA', format: 'wav' } }],
    [{ type: 'file', file: { file_id: 'file-1' } }],
    [{ type: 'file', file: { file_data: 'data:application/zip;base64,AA' } }],
    [{ type: 'image_url', image_url: { url: 'data:image/svg+xml;base64,AA' } }],
  ])('%o is rejected by its place', (part) => {
    const messages = [sampleUser('a'), sampleUser([{ type: 'text', text: 'b' }, part])]
    const refused = { code: 'invalid_request', param: 'messages.1.content.1' }
    expect(() => bodyOf({ messages })).toThrow(expect.objectContaining(refused))
  })

  test('the older functions become tools, their results find their calls', () => {
    const body = bodyOf({
      messages: [
        sampleUser('a'),
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

  test('a result without its call names its place', () => {
    const result = { role: 'tool', tool_call_id: 'nobody', content: 'x' }
    expect(() => bodyOf(answered(sampleUser('a'), result))).toThrow(
      expect.objectContaining({ code: 'invalid_request', param: 'messages.1.tool_call_id' }),
    )
  })
})

const paths = (model: string, stop?: string[]) =>
  bodyOf({ messages: [sampleUser('Hi')], ...(stop && { stop }) }, model)[
    'additionalModelResponseFieldPaths'
  ]

test('finding V21: only a Claude with stop sequences returns the stop sequence of its end', () => {
  const claude = 'us.anthropic.claude-sonnet-4-6'
  expect(paths(claude, ['END'])).toEqual(['/stop_sequence'])
  expect(paths(claude)).toBeUndefined()
  expect(paths('amazon.nova-pro-v1:0', ['END'])).toBeUndefined()
})
