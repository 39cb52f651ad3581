import { describe, expect, test } from 'bun:test'
import {
  assistant,
  call,
  refusal,
  tool,
  turnsOf,
  user,
} from '../../../testing/providers/google-chat'

const text = (role: string, ...texts: string[]) => ({
  role,
  parts: texts.map((text) => ({ text })),
})
const image = { type: 'image_url', image_url: { url: 'data:image/png;base64,iVBO' } }
const inlineImage = { inlineData: { mimeType: 'image/png', data: 'iVBO' } }
const response = (id: string, name: string, content: string) => ({
  functionResponse: { id, name, response: { name, content } },
})
/** A model without signatures, to see the rest. */
const older = 'gemini-2.5-pro'

describe('texts', () => {
  test('neighbours of one role are one turn; empty texts are left out, blank ones are not', () => {
    const messages = [
      user('a'),
      user([
        { type: 'text', text: '' },
        { type: 'text', text: ' ' },
      ]),
      assistant('b'),
      { role: 'assistant', content: null, refusal: 'No.' },
      assistant([{ type: 'refusal', refusal: 'Never.' }]),
      user(''),
      user('👩‍👩‍👧 ü'),
    ]
    expect(turnsOf(messages)).toEqual([
      text('user', 'a', ' '),
      text('model', 'b', 'No.', 'Never.'),
      text('user', '👩‍👩‍👧 ü'),
    ])
  })

  test('the user is first, also where the assistant greets', () => {
    expect(turnsOf([assistant('Hello!'), user('Hi')])).toEqual([
      text('user', 'Go on.'),
      text('model', 'Hello!'),
      text('user', 'Hi'),
    ])
  })

  test('nothing at all is rejected', () => {
    expect(() => turnsOf([user(''), assistant('')])).toThrow(refusal('messages', 'empty'))
  })
})

describe('calls and their results', () => {
  test('results are one turn, in the order of the calls, before all that the user says', () => {
    const messages = [
      user('a'),
      assistant(null, call('1', { args: '{"x":1}' }), call('2', { name: 'g', args: '' })),
      user('wait'),
      tool('2', [
        { type: 'text', text: 'two' },
        { type: 'text', text: 'lines' },
      ]),
      tool('1', [{ type: 'text', text: 'one' }, image]),
      user('go on'),
    ]
    expect(turnsOf(messages, older)).toEqual([
      text('user', 'a'),
      {
        role: 'model',
        parts: [
          { functionCall: { id: '1', name: 'f', args: { x: 1 } } },
          { functionCall: { id: '2', name: 'g', args: {} } },
        ],
      },
      {
        role: 'user',
        parts: [
          response('1', 'f', 'one'),
          response('2', 'g', 'two\nlines'),
          { text: 'wait' },
          inlineImage,
          { text: 'go on' },
        ],
      },
    ])
  })

  test('calls of neighbours are one turn, and so are their results', () => {
    const messages = [
      user('a'),
      assistant('x', call('1')),
      assistant('y', call('2')),
      tool('2', 'two'),
      tool('1', ''),
    ]
    expect(turnsOf(messages, older)).toEqual([
      text('user', 'a'),
      {
        role: 'model',
        parts: [
          { text: 'x' },
          { functionCall: { id: '1', name: 'f', args: {} } },
          { text: 'y' },
          { functionCall: { id: '2', name: 'f', args: {} } },
        ],
      },
      { role: 'user', parts: [response('1', 'f', ''), response('2', 'f', 'two')] },
    ])
  })

  test('an id may come again in a later turn, and of two results the later counts', () => {
    const messages = [
      user('a'),
      assistant(null, call('1')),
      tool('1', 'one'),
      assistant(null, call('1', { name: 'g' })),
      tool('1', 'no'),
      tool('1', 'two'),
    ]
    expect(turnsOf(messages, older)).toMatchObject([
      {},
      {},
      { parts: [response('1', 'f', 'one')] },
      {},
      { parts: [response('1', 'g', 'two')] },
    ])
  })

  test('finding V7: two calls of a turn with one id have two, each with its result', () => {
    const messages = [
      user('a'),
      assistant(null, call('1'), call('1')),
      tool('1', 'x'),
      tool('1', 'y'),
    ]
    expect(turnsOf(messages, older)).toMatchObject([
      {},
      { parts: [{ functionCall: { id: '1' } }, { functionCall: { id: '1__repeat__2' } }] },
      { parts: [response('1', 'f', 'x'), response('1__repeat__2', 'f', 'y')] },
    ])
  })

  test('finding V13: arguments that are not a JSON object are shown to the model', () => {
    const messages = [user('a'), assistant(null, call('1', { args: '{"x":' })), tool('1', 'x')]
    expect(turnsOf(messages, older)).toMatchObject([
      {},
      { parts: [{ functionCall: { args: { INVALID_JSON: '{"x":' } } }] },
      {},
    ])
  })

  test.each([
    [[user('a'), tool('1', 'x')], 'messages.1.tool_call_id', 'unknown_value'],
    [
      [user('a'), assistant('b', call('1')), tool('2', 'x')],
      'messages.2.tool_call_id',
      'unknown_value',
    ],
    [[user('a'), assistant('b', call('1')), user('c')], 'messages.1.tool_calls', 'required'],
    [
      [user('a'), assistant('b', call('1'), call('2')), tool('1', 'x'), assistant('c')],
      'messages.1.tool_calls',
      'required',
    ],
  ])('%#: refused at %2$s', (messages, param, issue) => {
    expect(() => turnsOf(messages)).toThrow(refusal(param, issue))
  })
})
