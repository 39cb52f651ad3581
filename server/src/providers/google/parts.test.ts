import { describe, expect, test } from 'bun:test'
import { google } from './index'
import {
  eventsOf,
  ours,
  partsOf,
  withoutUsage,
  source,
  usage,
} from '../../../testing/providers/google-recordings'
import type { FinishReason } from '../../wire/finish-reason'
import { EventTooLong, maxEventLength } from '../../wire/sse'

const recorded = (name: string) => withoutUsage(partsOf(eventsOf(ours, name)))
const event = (candidate: object) => JSON.stringify({ candidates: [candidate] })
const modelContent = (...parts: object[]) => ({ content: { role: 'model', parts } })
const usageOf = (name: string) =>
  partsOf(eventsOf(ours, name)).findLast((part) => part.type === 'usage')
/** A call whose arguments come in pieces, each the last place of an array of its own. */
const callWithGaps = (arrays: number) => {
  const partialArgs = Array.from({ length: arrays }, (_, at) => ({
    jsonPath: `$.a[${at}][9999]`,
    numberValue: 1,
  }))
  return event(modelContent({ functionCall: { name: 'f', partialArgs } }))
}

describe('content', () => {
  test('thoughts, texts, the signature of the text, the end', () => {
    expect(recorded('thought-and-text')).toEqual([
      { type: 'reasoning', text: '**Picking a fruit**\n\nShort names first.' },
      { type: 'text', text: 'Eine Birne 🍐, ' },
      { type: 'text', text: 'bitte schön.' },
      {
        type: 'extra',
        fields: { extra_content: { google: { thought_signature: 'c2lnbmF0dXJlLW9mLXRleHQ=' } } },
      },
      { type: 'finish', reason: 'stop' },
    ])
    expect(usageOf('thought-and-text')).toEqual({
      type: 'usage',
      usage: usage({ input: 12, output: 9, reasoning: 40 }),
      corrects: true,
    })
  })

  test('whole calls, several in one event; one is signed, one has an id, one has no arguments', () => {
    const parts = recorded('parallel-calls')
    expect(parts).toEqual([
      { type: 'text', text: 'Let me look.' },
      {
        type: 'call',
        index: 0,
        id: expect.stringMatching(/^call_[0-9a-f]{26}__thought__ab-_cd$/),
        name: 'weather',
        extra: { extra_content: { google: { thought_signature: 'ab+/cd==' } } },
      },
      { type: 'arguments', index: 0, text: '{"city":"Oslo","days":2}' },
      { type: 'call', index: 1, id: 'fc-2', name: 'weather' },
      { type: 'arguments', index: 1, text: '{"city":"Łódź"}' },
      { type: 'call', index: 2, name: 'now' },
      { type: 'arguments', index: 2, text: '{}' },
      { type: 'finish', reason: 'tool_calls' },
    ])
  })

  test('calls in pieces are sent whole; only the empty piece separates two of one name', () => {
    expect(recorded('streamed-calls')).toEqual([
      {
        type: 'call',
        index: 0,
        id: expect.stringContaining('__thought__'),
        name: 'book',
        extra: { extra_content: { google: { thought_signature: 'Zmlyc3Q=' } } },
      },
      {
        type: 'arguments',
        index: 0,
        text: '{"guest":{"name":"Ada"},"nights":3,"rooms":[{"sea view":true},{"note":null}]}',
      },
      { type: 'call', index: 1, name: 'book' },
      { type: 'arguments', index: 1, text: '{}' },
      { type: 'finish', reason: 'tool_calls' },
    ])
  })

  test('pieces of arguments are as long as a whole answer may be, at most', () => {
    const stringValue = 'x'.repeat(maxEventLength / 2)
    const call = { name: 'f', partialArgs: [{ jsonPath: '$.x', stringValue }], willContinue: true }
    const piece = event(modelContent({ functionCall: call }))
    expect(() => partsOf([piece, piece])).toThrow(EventTooLong)
  })

  test('gaps of an array that no piece fills count like their nulls in JSON', () => {
    const most = Math.floor(maxEventLength / (9999 * 'null,'.length))
    expect(JSON.stringify(partsOf([callWithGaps(10)])).length).toBeGreaterThan(10 * 9999 * 5)
    expect(() => partsOf([callWithGaps(most + 1)])).toThrow(EventTooLong)
  })

  test('a name again is the same call, another name or whole arguments are the next one', () => {
    const piece = (name: string, stringValue: string) =>
      event(
        modelContent({
          functionCall: {
            name,
            partialArgs: [{ jsonPath: '$.x', stringValue }],
            willContinue: true,
          },
        }),
      )
    const whole = event(modelContent({ functionCall: { name: 'g', args: { y: 1 } } }))
    const end = event({ finishReason: 'STOP' })
    const events = [piece('f', 'a'), piece('f', 'b'), piece('g', 'c'), whole, end]
    expect(partsOf(events)).toEqual([
      { type: 'call', index: 0, name: 'f' },
      { type: 'arguments', index: 0, text: '{"x":"ab"}' },
      { type: 'call', index: 1, name: 'g' },
      { type: 'arguments', index: 1, text: '{"x":"c"}' },
      { type: 'call', index: 2, name: 'g' },
      { type: 'arguments', index: 2, text: '{"y":1}' },
      { type: 'finish', reason: 'tool_calls' },
    ])
  })

  test('an image, as OpenAI-alikes send it', () => {
    const url = 'data:image/png;base64,iVBORw0KGgo='
    expect(recorded('image')).toEqual([
      { type: 'text', text: 'Here it is:' },
      { type: 'extra', fields: { images: [{ type: 'image_url', image_url: { url } }] } },
      { type: 'finish', reason: 'stop' },
    ])
  })

  test('a prompt that is blocked is an empty answer', () => {
    expect(recorded('blocked-prompt')).toEqual([{ type: 'finish', reason: 'content_filter' }])
    expect(usageOf('blocked-prompt')).toMatchObject({ usage: usage({ input: 9 }) })
  })

  test('an answer that is blocked ends where it was', () => {
    expect(recorded('blocked-answer')).toEqual([
      { type: 'text', text: 'First, ' },
      { type: 'finish', reason: 'content_filter' },
    ])
  })

  test('a cut answer reports it', () => {
    expect(recorded('length').at(-1)).toEqual({ type: 'finish', reason: 'length' })
  })
})

describe('endings', () => {
  test.each<[string, FinishReason]>([
    ['STOP', 'stop'],
    ['MAX_TOKENS', 'length'],
    ['CONTINUATION', 'length'],
    ['SAFETY', 'content_filter'],
    ['RECITATION', 'content_filter'],
    ['BLOCKLIST', 'content_filter'],
    ['PROHIBITED_CONTENT', 'content_filter'],
    ['SPII', 'content_filter'],
    ['IMAGE_SAFETY', 'content_filter'],
    ['LANGUAGE', 'content_filter'],
    // Finding P7: no ordinary end.
    ['OTHER', 'length'],
    ['FINISH_REASON_UNSPECIFIED', 'length'],
    ['SOMETHING_NEW', 'length'],
  ])('%s is %s', (finishReason, reason) => {
    expect(partsOf([event({ finishReason })])).toEqual([{ type: 'finish', reason }])
  })

  test.each(['MALFORMED_FUNCTION_CALL', 'UNEXPECTED_TOOL_CALL', 'NO_IMAGE', 'IMAGE_OTHER'])(
    '%s is a failure',
    (googleReason) => {
      expect(() => partsOf([event({ finishReason: googleReason })])).toThrow(
        expect.objectContaining({ code: 'provider_error', status: 502, retryable: false }),
      )
    },
  )

  test('finding V2: the call of a tool that was not offered is whole, and is sent', () => {
    const called = modelContent({ functionCall: { name: 'guessed', args: { q: 1 } } })
    expect(partsOf([event({ ...called, finishReason: 'UNEXPECTED_TOOL_CALL' })])).toEqual([
      { type: 'call', index: 0, name: 'guessed' },
      { type: 'arguments', index: 0, text: '{"q":1}' },
      { type: 'finish', reason: 'tool_calls' },
    ])
  })

  test('a call that Google could not read is a failure', () => {
    expect(() => recorded('malformed-call')).toThrow('MALFORMED_FUNCTION_CALL')
  })

  test('a call whose end is missing counts after an ordinary end alone', () => {
    const begun = event(modelContent({ functionCall: { name: 'pay', willContinue: true } }))
    const more = event(
      modelContent({
        functionCall: {
          partialArgs: [{ jsonPath: '$.usd', stringValue: '1', willContinue: true }],
          willContinue: true,
        },
      }),
    )
    const end = (finishReason: string) => partsOf([begun, more, event({ finishReason })])
    expect(end('STOP').map(({ type }) => type)).toEqual(['call', 'arguments', 'finish'])
    expect(end('MAX_TOKENS')).toEqual([{ type: 'finish', reason: 'length', isCut: true }])
    expect(end('SAFETY')).toMatchObject([{ type: 'finish', reason: 'content_filter' }])
  })

  test('the end is sent once; usage may follow, text may not', () => {
    const end = event({ finishReason: 'STOP' })
    const counted = JSON.stringify({ usageMetadata: { promptTokenCount: 1, totalTokenCount: 1 } })
    const parts = partsOf([end, end, event(modelContent({ text: '' })), counted])
    expect(parts.map(({ type }) => type)).toEqual(['finish', 'usage'])
    expect(() => partsOf([end, event(modelContent({ text: 'more' }))])).toThrow('after the end')
  })
})

describe('errors', () => {
  const error = { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' }

  test.each([JSON.stringify({ error }), JSON.stringify([{ error }])])(
    'an error in place of an event: %s',
    (data) => {
      const read = google.reader(source)
      read(event(modelContent({ text: 'a' })))
      expect(() => read(data)).toThrow(
        expect.objectContaining({ code: 'provider_error', status: 503 }),
      )
    },
  )

  test.each([
    '{"candidates":',
    'null',
    '7',
    '[]',
    '{"candidates":{}}',
    event(modelContent({ text: 7 })),
    event(modelContent({ functionCall: { name: 'f', args: 'x' } })),
    event(modelContent({ functionCall: { partialArgs: [{ jsonPath: '$.a', numberValue: 1 }] } })),
  ])('%s is nonsense', (data) => {
    expect(() => partsOf([data])).toThrow(
      expect.objectContaining({ code: 'provider_error', status: 502, retryable: false }),
    )
  })

  test.each([
    '$.__proto__.polluted',
    '$["__proto__"].polluted',
    '$.a[99999]',
    'a',
    '$',
    '$..a',
    '$.a[',
    '$.text.a',
    '$.list.a',
  ])('a path %s of a piece of arguments is nonsense', (jsonPath) => {
    const begun = { name: 'f', args: { text: 'x', list: [1] }, willContinue: true }
    const piece = { partialArgs: [{ jsonPath, stringValue: 'x' }] }
    expect(() =>
      partsOf([
        event(modelContent({ functionCall: begun })),
        event(modelContent({ functionCall: piece })),
      ]),
    ).toThrow(expect.objectContaining({ code: 'provider_error' }))
    expect(Reflect.get({}, 'polluted')).toBeUndefined()
  })
})
