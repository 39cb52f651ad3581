import { describe, expect, test } from 'bun:test'
import { call, turnsOf } from './chat-for-tests'
import { packCallId } from '../../wire/packed-call-id'

const user = (content: unknown) => ({ role: 'user', content })
const assistant = (content: unknown, ...calls: unknown[]) => ({
  role: 'assistant',
  content,
  ...(calls.length > 0 && { tool_calls: calls }),
})
const tool = (id: string, content: unknown) => ({ role: 'tool', tool_call_id: id, content })
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
const refusal = (param: string, issue: string) =>
  expect.objectContaining({ code: 'invalid_request', param, details: { issue } })

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

  test('nothing at all is refused', () => {
    expect(() => turnsOf([user(''), assistant('')])).toThrow(refusal('messages', 'empty'))
  })
})

describe('media', () => {
  const partsOf = (...content: unknown[]) => turnsOf([user(content)])
  const turn = (...parts: unknown[]) => [{ role: 'user', parts }]
  const at = (url: string) => ({ type: 'image_url', image_url: { url } })
  const file = (fields: object) => ({ type: 'file', file: fields })
  const video = 'https://www.youtube.com/watch?v=abc'
  const uploaded = 'https://generativelanguage.googleapis.com/v1beta/files/x1'

  test('data, sound and documents stand in the request', () => {
    expect(
      partsOf(
        image,
        { type: 'input_audio', input_audio: { data: 'UklG', format: 'wav' } },
        { type: 'input_audio', input_audio: { data: 'SUQz', format: 'mp3' } },
        file({ file_data: 'data:application/pdf;base64,JVBE', filename: 'a.pdf' }),
      ),
    ).toEqual(
      turn(
        inlineImage,
        { inlineData: { mimeType: 'audio/wav', data: 'UklG' } },
        { inlineData: { mimeType: 'audio/mp3', data: 'SUQz' } },
        { inlineData: { mimeType: 'application/pdf', data: 'JVBE' } },
      ),
    )
  })

  test('what is on Google’s own sites is named', () => {
    expect(partsOf(at(video), at(uploaded), file({ file_id: 'gs://b/o.pdf' }))).toEqual(
      turn(
        { fileData: { fileUri: video, mimeType: 'video/mp4' } },
        { fileData: { fileUri: uploaded } },
        { fileData: { fileUri: 'gs://b/o.pdf' } },
      ),
    )
  })

  test('an address is sent as what was fetched from it', () => {
    const media = new Map([['https://a.example/1', { mimeType: 'image/webp', base64: 'Ukl' }]])
    expect(turnsOf([user([at('https://a.example/1')])], older, { media })).toEqual(
      turn({ inlineData: { mimeType: 'image/webp', data: 'Ukl' } }),
    )
  })

  test.each([
    [at('https://a.example/1'), 'image_url.url', 'unsupported_by_model'],
    [at('https://youtube.com.evil.example/watch?v=a'), 'image_url.url', 'unsupported_by_model'],
    [file({ file_id: 'file-123' }), 'file.file_id', 'unsupported_by_model'],
    [file({ file_data: 'JVBE' }), 'file.file_data', 'bad_format'],
    [file({}), 'file.file_data', 'required'],
  ])('%p is refused by its path', (part, field, issue) => {
    expect(() => partsOf({ type: 'text', text: 'a' }, part)).toThrow(
      refusal(`messages.0.content.1.${field}`, issue),
    )
  })
})

describe('calls and their results', () => {
  test('results are one turn, in the order of the calls, before all that the user says', () => {
    const messages = [
      user('a'),
      assistant(null, call('1', 'f', '{"x":1}'), call('2', 'g', '')),
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
      assistant(null, call('1', 'g')),
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
    [[user('a'), assistant('b', call('1'), call('1'))], 'messages.1.tool_calls.1.id', 'duplicate'],
    [
      [user('a'), assistant('b', call('1', 'f', '{"x":'))],
      'messages.1.tool_calls.0.function.arguments',
      'invalid_json',
    ],
    [
      [user('a'), assistant('b', call('1', 'f', '[]'))],
      'messages.1.tool_calls.0.function.arguments',
      'invalid_json',
    ],
  ])('%#: refused at %2$s', (messages, param, issue) => {
    expect(() => turnsOf(messages)).toThrow(refusal(param, issue))
  })
})

describe('thought signatures', () => {
  const given = { extra_content: { google: { thought_signature: 'ab+/cd==' } } }
  const signaturesOf = (calls: unknown[], ...setting: [model?: string, own?: object]) => {
    const ids = calls.map((_, index) => String(index + 1))
    const results = ids.map((id) => tool(id, 'x'))
    const turns = turnsOf([user('a'), assistant(null, ...calls), ...results], ...setting)
    return JSON.parse(JSON.stringify(turns))[1].parts.map(
      ({ thoughtSignature }: { thoughtSignature?: string }) => thoughtSignature,
    )
  }
  const any = 'skip_thought_signature_validator'

  test('the field of Google’s own convention is taken first', () => {
    const id = packCallId('1', 'b3RoZXI=')
    expect(signaturesOf([call(id, 'f', '{}', given)])).toEqual(['ab+/cd=='])
  })

  test('else what is packed into the id, whichever alphabet packed it', () => {
    for (const id of ['1__thought__ab-_cd', '1__thought__ab+/cd==']) {
      expect(signaturesOf([call(id)])).toEqual(['ab+/cd=='])
    }
  })

  test('else the value that fits all, on the first call of the turn alone', () => {
    expect(signaturesOf([call('1'), call('2')])).toEqual([any, undefined])
    expect(signaturesOf([call('1'), call('2', 'f', '{}', given)])).toEqual([any, 'ab+/cd=='])
    expect(signaturesOf([call('1', 'f', '{}', given), call('2')])).toEqual(['ab+/cd==', undefined])
  })

  test('models before Gemini 3 need none, but keep what they are given', () => {
    expect(signaturesOf([call('1'), call('2')], older)).toEqual([undefined, undefined])
    expect(signaturesOf([call('1', 'f', '{}', given)], older)).toEqual(['ab+/cd=='])
  })

  test('once refused, all are replaced', () => {
    const calls = [call('1', 'f', '{}', given), call('2__thought__YWI', 'f', '{}')]
    const own = { signatures: 'replaced' as const }
    expect(signaturesOf(calls, 'gemini-3-pro-preview', own)).toEqual([any, undefined])
  })

  test('each step of several has its own', () => {
    const messages = [
      user('a'),
      assistant(null, call('1', 'f', '{}', given)),
      tool('1', 'x'),
      assistant(null, call('2')),
      tool('2', 'y'),
    ]
    expect(turnsOf(messages)).toMatchObject([
      {},
      { parts: [{ thoughtSignature: 'ab+/cd==' }] },
      {},
      { parts: [{ thoughtSignature: any }] },
      {},
    ])
  })

  test('what signs a text comes back on its last part', () => {
    const messages = [user('a'), { ...assistant('b'), ...given }, user('c')]
    expect(turnsOf(messages)).toMatchObject([
      {},
      { parts: [{ text: 'b', thoughtSignature: 'ab+/cd==' }] },
      {},
    ])
  })

  test.each([7, '', 'no base64!', null])('%p is no signature', (thought_signature) => {
    const extra = { extra_content: { google: { thought_signature } } }
    expect(signaturesOf([call('1', 'f', '{}', extra)])).toEqual([any])
  })

  test('the packed part of an id reaches nobody, and results still find their calls', () => {
    const packed = packCallId('1', 'ab+/cd==')
    for (const id of ['1', packed]) {
      const messages = [user('a'), assistant(null, call(packed)), tool(id, 'x')]
      const sent = JSON.stringify(turnsOf(messages))
      expect(sent).not.toContain('__thought__')
      expect(sent).toContain('"functionResponse":{"id":"1"')
    }
  })
})
