import { describe, expect, test } from 'bun:test'
import * as fc from '../../testing/property'
import { SseReader, EventTooLong, maxEventLength } from './sse'

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

test('finding V11: an event may be as long as a whole answer, U16: and no longer', () => {
  const longest = 'a'.repeat(maxEventLength - 100)
  expect(read([encode(`data: ${longest}\n\n`)])).toEqual([longest])
  const half = longest.slice(0, maxEventLength / 2)
  expect(() => read([encode(`data: ${half}\ndata: ${half}\ndata: b\n\n`)])).toThrow(EventTooLong)
  const reader = new SseReader()
  const endless = () => {
    reader.push(encode('data: '))
    for (let piece = 0; piece < 201; piece++) reader.push(encode('a'.repeat(106_000)))
  }
  expect(endless).toThrow(EventTooLong)
})

test('U16: lines of data without text fill an event too, as each is an object', () => {
  const lines = 'data:\n'.repeat(maxEventLength / 32 + 2)
  expect(() => read([encode(lines)])).toThrow(EventTooLong)
})

test('U16: a line without data is at most 1 MB, in one piece or in many', () => {
  const megabyte = 'a'.repeat(1024 * 1024)
  expect(read([encode(`: ${megabyte.slice(10)}`), encode('\ndata: b\n\n')])).toEqual(['b'])
  const pieces = Array.from({ length: 33 }, () => encode(megabyte.slice(0, 32 * 1024)))
  expect(() => read([encode(': '), ...pieces])).toThrow(EventTooLong)
  expect(read([encode('data: '), ...pieces, encode('\n\n')])).toHaveLength(1)
})

test('a large event in many small pieces is the same', () => {
  const text = 'Grüße '.repeat(10_000)
  const bytes = encode(`data: ${text}\n\ndata: b\n\n`)
  const pieces = Array.from({ length: Math.ceil(bytes.length / 7) }, (_, at) =>
    bytes.subarray(at * 7, at * 7 + 7),
  )
  expect(read(pieces)).toEqual([text, 'b'])
})

test('finding V9: comments and blank lines are signs of life, half of a line is not', () => {
  const reader = new SseReader()
  const isAlive = (text: string) => {
    reader.push(encode(text))
    return reader.takeLife()
  }
  expect(isAlive(': keep')).toBe(false)
  expect(isAlive('alive\n')).toBe(true)
  expect(reader.takeLife()).toBe(false)
  expect(isAlive('\n')).toBe(true)
  expect(isAlive('data: {"a":')).toBe(false)
  expect(isAlive('1}\r')).toBe(true)
})

test('the length of the held event returns to zero with its end', () => {
  const reader = new SseReader()
  reader.push(encode('data: abc'))
  expect(reader.heldLength).toBe(9)
  reader.push(encode('def\n'))
  expect(reader.heldLength).toBeGreaterThanOrEqual(6)
  reader.push(encode('\n'))
  expect(reader.heldLength).toBe(0)
})

test('finding V11: an event with characters beyond ASCII takes two bytes for each of them', () => {
  const reader = new SseReader()
  reader.push(encode('data: abc'))
  expect(reader.heldBytes).toBe(reader.heldLength)
  reader.push(encode('鯨'))
  reader.push(encode('def\ndata: ghi'))
  expect(reader.heldBytes).toBe(2 * reader.heldLength)
  reader.push(encode('\n\n'))
  expect(reader.heldBytes).toBe(0)
  reader.push(encode('data: abc'))
  expect(reader.heldBytes).toBe(reader.heldLength)
})

test('F01: reading any bytes ends in events or in EventTooLong', () => {
  const property = fc.property(fc.array(fc.uint8Array({ maxLength: 200 })), (pieces) => {
    for (const event of read(pieces)) expect(event).toBeString()
  })
  fc.assert(property, { numRuns: 2000 })
})
