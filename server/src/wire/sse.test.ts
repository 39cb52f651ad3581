import { describe, expect, test } from 'bun:test'
import * as fc from '../../testing/property'
import { SseReader, EventTooLong } from './sse'

const encode = (text: string) => new TextEncoder().encode(text)

/** The events of a body that arrives in those pieces. */
function read(pieces: readonly Uint8Array[]): string[] {
  const reader = new SseReader()
  return [...pieces.flatMap((piece) => reader.push(piece)), ...reader.end()]
}

const expected = ['{"text":"Grüße 你好 👩‍👩‍👧‍👦"}', '{"text":"data: x"}', 'two\nlines', '[DONE]']
const body = [
  'data: {"text":"Grüße 你好 👩‍👩‍👧‍👦"}',
  ': a comment\n\nid: 1\nevent: message\nretry: 5\ndata: {"text":"data: x"}',
  'data: two\ndata: lines',
  'data: [DONE]',
  '',
].join('\n\n')

describe.each([
  ['LF', body],
  ['CRLF', body.replaceAll('\n', '\r\n')],
  ['CR', body.replaceAll('\n', '\r')],
  ['a byte order mark', `\u{FEFF}${body}`],
  ['no space after the colon', body.replaceAll(/^data: /gm, 'data:')],
  ['blank lines and comments between', body.replaceAll('\n\n', '\n\n\n: ping\n\n:\n\n')],
  ['no blank line at the end', body.trimEnd()],
])('S14: with %s', (_how, text) => {
  const bytes = encode(text)

  test('the events are the same', () => expect(read([bytes])).toEqual(expected))

  test('cut at any one byte they are the same', () => {
    for (let cut = 0; cut <= bytes.length; cut++) {
      expect(read([bytes.subarray(0, cut), bytes.subarray(cut)])).toEqual(expected)
    }
  })

  test('byte by byte they are the same', () => {
    expect(read(Array.from(bytes, (byte) => Uint8Array.of(byte)))).toEqual(expected)
  })

  test('cut at any bytes they are the same', () => {
    const cuts = fc.array(fc.nat(bytes.length), { maxLength: 20 })
    const property = fc.property(cuts, (places) => {
      const edges = [0, ...places.toSorted((a, b) => a - b), bytes.length]
      const pieces = edges.slice(1).map((edge, index) => bytes.subarray(edges[index], edge))
      expect(read(pieces)).toEqual(expected)
    })
    fc.assert(property)
  })
})

test('events come as soon as their blank line does', () => {
  const reader = new SseReader()
  expect(reader.push(encode('data: a\n'))).toEqual([])
  expect(reader.push(encode('\ndata: b\n\ndata: c'))).toEqual(['a', 'b'])
  expect(reader.end()).toEqual(['c'])
})

test('U16: a line or an event beyond 1 MB is refused, one below is not', () => {
  const longestLine = 'a'.repeat(1024 * 1024 - 10)
  expect(read([encode(`data: ${longestLine}\n\n`)])).toEqual([longestLine])
  expect(() => read([encode(`data: ${longestLine}${longestLine}\n\n`)])).toThrow(EventTooLong)
  const reader = new SseReader()
  const endless = () => {
    reader.push(encode('data: '))
    for (let piece = 0; piece < 20; piece++) reader.push(encode('a'.repeat(100_000)))
  }
  expect(endless).toThrow(EventTooLong)
})

test('F01: whatever the bytes are, reading ends in events or in EventTooLong', () => {
  const property = fc.property(fc.array(fc.uint8Array({ maxLength: 200 })), (pieces) => {
    for (const event of read(pieces)) expect(event).toBeString()
  })
  fc.assert(property, { numRuns: 2000 })
})
