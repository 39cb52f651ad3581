import { describe, expect, test } from 'bun:test'
import { dialect } from '../../../testing/protocols/responses-dialect'
import { ChatRequest } from '../../wire/chat-request'
import { check, type JsonObject } from '../../wire/json-body'

const image = 'https://example.com/a.png'
const pdf = 'data:application/pdf;base64,AAAA'
const user = (text: string) => ({ role: 'user', content: text })

/** The messages for a request, which are such as chat itself takes. */
function messagesOf(request: JsonObject): unknown {
  const { chat } = dialect.read({ model: 'sandbox/echo', ...request })
  return check(ChatRequest, chat).messages
}

const call = (id: string, name = 'look', args = '{}') => ({
  type: 'function_call',
  call_id: id,
  name,
  arguments: args,
})
const output = (id: string, value: unknown) => ({
  type: 'function_call_output',
  call_id: id,
  output: value,
})
const toolCall = (id: string, name = 'look', args = '{}') => ({
  id,
  type: 'function',
  function: { name, arguments: args },
})
const result = (id: string, content: string) => ({ role: 'tool', tool_call_id: id, content })

/** Two calls, each with its result behind it. */
const interleaved = (first: object, second: object, ...between: object[]) => [
  { ...call('a'), ...first },
  output('a', '1'),
  ...between,
  { ...call('b'), ...second },
  output('b', '2'),
]

describe('finding V24: results between the calls of one answer', () => {
  const together = [
    { role: 'assistant', content: null, tool_calls: [toolCall('a'), toolCall('b')] },
    result('a', '1'),
    result('b', '2'),
  ]
  const apart = [
    { role: 'assistant', content: null, tool_calls: [toolCall('a')] },
    result('a', '1'),
    { role: 'assistant', content: null, tool_calls: [toolCall('b')] },
    result('b', '2'),
  ]

  test('stand behind them, as the ids of the items show', () => {
    const input = interleaved({ id: 'fc_01abc000' }, { id: 'fc_01abc001' })
    expect(messagesOf({ input })).toEqual(together)
  })

  test.each([
    ['of two answers', interleaved({ id: 'fc_01abc000' }, { id: 'fc_01abd000' })],
    ['of which nothing is known', interleaved({}, {})],
  ])('calls %s are two turns', (_which, input) => {
    expect(messagesOf({ input })).toEqual(apart)
  })

  test('a message between them ends the turn', () => {
    const input = interleaved({ id: 'fc_01abc000' }, { id: 'fc_01abc001' }, user('Go on.'))
    expect(messagesOf({ input })).toEqual([...apart.slice(0, 2), user('Go on.'), ...apart.slice(2)])
  })

  test('the signature of a model that signs the first call of an answer is on that call', () => {
    const signed = 'a__thought__c2ln'
    const input = [call(signed), output(signed, '1'), call('b'), output('b', '2')]
    expect(messagesOf({ input })).toEqual([
      { role: 'assistant', content: null, tool_calls: [toolCall(signed), toolCall('b')] },
      result(signed, '1'),
      result('b', '2'),
    ])
    const other = 'b__thought__c2lo'
    const next = [call(signed), output(signed, '1'), call(other), output(other, '2')]
    expect(messagesOf({ input: next })).toHaveLength(4)
  })
})

describe('the input as messages', () => {
  const rows: [string, JsonObject, unknown[]][] = [
    ['a text', { input: 'Hi.' }, [user('Hi.')]],
    [
      'instructions come first',
      { input: 'Hi.', instructions: 'Be brief.' },
      [{ role: 'system', content: 'Be brief.' }, user('Hi.')],
    ],
    [
      'messages with and without a type, of every role',
      {
        input: [
          { type: 'message', role: 'developer', content: 'a' },
          { role: 'system', content: [{ type: 'input_text', text: 'b' }] },
          { type: null, role: 'user', content: 'c' },
        ],
      },
      [
        { role: 'developer', content: 'a' },
        { role: 'system', content: 'b' },
        { role: 'user', content: 'c' },
      ],
    ],
    [
      'non-text parts',
      {
        input: [
          {
            role: 'user',
            content: [
              { type: 'input_text', text: 'a' },
              { type: 'input_image', image_url: image, detail: 'original' },
              { type: 'input_image', image_url: image },
              { type: 'input_file', file_data: pdf, filename: 'a.pdf' },
              { type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } },
            ],
          },
        ],
      },
      [
        {
          role: 'user',
          content: [
            { type: 'text', text: 'a' },
            { type: 'image_url', image_url: { url: image, detail: 'high' } },
            { type: 'image_url', image_url: { url: image } },
            { type: 'file', file: { file_data: pdf, filename: 'a.pdf' } },
            { type: 'input_audio', input_audio: { data: 'AAAA', format: 'mp3' } },
          ],
        },
      ],
    ],
    [
      'thoughts, text and calls of the model are one message',
      {
        input: [
          user('a'),
          { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAA' },
          { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'b' }] },
          { role: 'assistant', content: [{ type: 'refusal', refusal: 'c' }] },
          call('1'),
          call('2'),
          output('1', 'd'),
          output('2', 'e'),
          user('f'),
        ],
      },
      [
        user('a'),
        {
          role: 'assistant',
          content: 'b\n\nc',
          tool_calls: [toolCall('1'), toolCall('2')],
          reasoning_details: [
            {
              type: 'reasoning.encrypted',
              format: 'openai-responses-v1',
              data: 'gAAA',
              id: 'rs_1',
            },
          ],
        },
        result('1', 'd'),
        result('2', 'e'),
        user('f'),
      ],
    ],
    [
      'one step after the other',
      { input: [user('a'), call('1'), output('1', 'b'), call('2'), output('2', 'c')] },
      [
        user('a'),
        { role: 'assistant', content: null, tool_calls: [toolCall('1')] },
        result('1', 'b'),
        { role: 'assistant', content: null, tool_calls: [toolCall('2')] },
        result('2', 'c'),
      ],
    ],
    [
      'a result is put after its call, from any place',
      { input: [call('1'), user('a'), output('1', 'b')] },
      [
        { role: 'assistant', content: null, tool_calls: [toolCall('1')] },
        result('1', 'b'),
        user('a'),
      ],
    ],
    [
      'custom calls are calls of a function with one text',
      {
        input: [
          { type: 'custom_tool_call', call_id: '1', name: 'write', input: 'a "b"' },
          { type: 'custom_tool_call_output', call_id: '1', output: 'c' },
        ],
      },
      [
        {
          role: 'assistant',
          content: null,
          tool_calls: [toolCall('1', 'write', '{"input":"a \\"b\\""}')],
        },
        result('1', 'c'),
      ],
    ],
    [
      'an image of a tool is shown by the user, as results are text',
      {
        input: [
          call('1'),
          call('2'),
          output('1', [{ type: 'input_image', image_url: image }]),
          output('2', [
            { type: 'input_text', text: 'a' },
            { type: 'input_text', text: 'b' },
          ]),
        ],
      },
      [
        { role: 'assistant', content: null, tool_calls: [toolCall('1'), toolCall('2')] },
        result('1', 'The result is in the next message.'),
        result('2', 'a\nb'),
        {
          role: 'user',
          content: [
            { type: 'text', text: 'Part of the result of the call 1:' },
            { type: 'image_url', image_url: { url: image } },
          ],
        },
      ],
    ],
    [
      'thoughts alone add no message',
      { input: [user('a'), { type: 'reasoning', summary: [] }, user('b')] },
      [user('a'), user('b')],
    ],
  ]
  test.each(rows)('%s', (_what, request, messages) => {
    expect(messagesOf(request)).toEqual(messages)
  })
})
