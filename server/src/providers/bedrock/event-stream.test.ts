import { describe, expect, test } from 'bun:test'
import * as fc from '../../../testing/property'
import { BrokenFrame, FrameReader } from './event-stream'
import {
  createEventFrame,
  exceptionFrame,
  createFrame,
} from '../../../testing/providers/bedrock-samples'
import { EventTooLong } from '../../wire/sse'

const events = [
  '{"messageStart":{"role":"assistant"}}',
  '{"contentBlockDelta":{"contentBlockIndex":0,"delta":{"text":"Grüße 你好 👩‍👩‍👧‍👦"},"p":"abcdefgh"}}',
  '{"messageStop":{"stopReason":"end_turn"}}',
]
const body = Buffer.concat(events.map(createEventFrame))

function read(pieces: readonly Uint8Array[]): string[] {
  const reader = new FrameReader()
  return [...pieces.flatMap((piece) => reader.push(piece)), ...reader.end()]
}

/** What is seen of a stream before it turns out to be broken. */
function readBroken(pieces: readonly Uint8Array[]): string[] {
  const messages: string[] = []
  const reader = new FrameReader()
  expect(() => {
    for (const piece of pieces) messages.push(...reader.push(piece))
    reader.end()
  }).toThrow(BrokenFrame)
  return messages
}

const cutAt = (bytes: Buffer, places: readonly number[]) => {
  const edges = [0, ...places.toSorted((a, b) => a - b), bytes.length]
  return edges.slice(1).map((edge, index) => bytes.subarray(edges[index], edge))
}

describe('S14: an event stream', () => {
  test('is read whole', () => expect(read([body])).toEqual(events))

  test('is the same cut at any one byte', () => {
    for (let cut = 0; cut <= body.length; cut++) expect(read(cutAt(body, [cut]))).toEqual(events)
  })

  test('is the same byte by byte', () => {
    expect(read(Array.from(body, (byte) => Uint8Array.of(byte)))).toEqual(events)
  })

  test('is the same whatever the events and the cuts', () => {
    const payload = fc.dictionary(fc.string({ maxLength: 5 }), fc.string({ unit: 'grapheme' }))
    const types = fc.constantFrom('metadata', 'contentBlockDelta')
    const some = fc.array(fc.tuple(types, payload), { minLength: 1, maxLength: 8 })
    const property = fc.property(some, fc.array(fc.nat(), { maxLength: 12 }), (frames, cuts) => {
      const lines = frames.map(([type, value]) => JSON.stringify({ [type]: value }))
      const bytes = Buffer.concat(lines.map(createEventFrame))
      const places = cuts.map((cut) => cut % (bytes.length + 1))
      expect(read(cutAt(bytes, places))).toEqual(lines)
    })
    fc.assert(property, { numRuns: 300 })
  })

  test('that ends inside a frame was cut', () => {
    const lastFrame = body.length - createEventFrame(events[2] ?? '').length
    for (let cut = lastFrame + 1; cut < body.length; cut++) {
      expect(() => read([body.subarray(0, cut)])).toThrow(BrokenFrame)
    }
    expect(read([body.subarray(0, lastFrame)])).toEqual(events.slice(0, 2))
  })

  test('with any byte changed never yields a frame that was not sent', () => {
    const property = fc.property(
      fc.nat(body.length - 1),
      fc.integer({ min: 1, max: 255 }),
      fc.array(fc.nat(body.length), { maxLength: 5 }),
      (at, change, cuts) => {
        const broken = Buffer.from(body)
        broken.writeUInt8(broken.readUInt8(at) ^ change, at)
        const whole = readBroken([broken])
        expect(events.slice(0, whole.length)).toEqual(whole)
        expect(whole.length).toBeLessThan(events.length)
        expect(readBroken(cutAt(broken, cuts))).toEqual(whole)
      },
    )
    fc.assert(property, { numRuns: 2000 })
  })

  test('of random bytes is refused, in words of ours', () => {
    const property = fc.property(fc.uint8Array({ minLength: 1, maxLength: 200 }), (bytes) => {
      expect(() => read([bytes])).toThrow(BrokenFrame)
    })
    fc.assert(property, { numRuns: 1000 })
  })
})

describe('a frame', () => {
  test('beyond 1 MB is refused before its bytes are there', () => {
    const head = createFrame(
      { ':message-type': 'event', ':event-type': 'x' },
      'x'.repeat(1024 * 1024),
    )
    expect(() => new FrameReader().push(head.subarray(0, 12))).toThrow(EventTooLong)
  })

  test('of just 1 MB is read', () => {
    const empty = createFrame({ ':message-type': 'event', ':event-type': 'x' }, '').length
    const payload = JSON.stringify('x'.repeat(1024 * 1024 - empty - 2))
    const frame = createFrame({ ':message-type': 'event', ':event-type': 'x' }, payload)
    expect(frame.length).toBe(1024 * 1024)
    expect(read([frame])).toEqual([`{"x":${payload}}`])
  })

  test('whose headers are longer than itself is refused', () => {
    const frame = createFrame(Buffer.alloc(0), '')
    frame.writeUInt32BE(500, 4)
    frame.writeUInt32BE(Bun.hash.crc32(frame.subarray(0, 8)), 8)
    expect(() => read([frame])).toThrow('The lengths of a frame are wrong.')
  })

  test('may have headers of every type beside the text', () => {
    const others = [
      [1, 'a', 0, []],
      [1, 'b', 1, []],
      [1, 'c', 2, [7]],
      [1, 'd', 3, [0, 7]],
      [1, 'e', 4, [0, 0, 0, 7]],
      [1, 'f', 5, Array.from({ length: 8 }, () => 7)],
      [1, 'g', 6, [0, 3, 7, 7, 7]],
      [1, 'h', 8, Array.from({ length: 8 }, () => 7)],
      [1, 'i', 9, Array.from({ length: 16 }, () => 7)],
    ] as const
    const bytes = others.flatMap(([size, name, type, value]) => [
      size,
      ...Buffer.from(name),
      type,
      ...value,
    ])
    const text = createFrame({ ':message-type': 'event', ':event-type': 'metadata' }, '')
    const head = Buffer.concat([Buffer.from(bytes), text.subarray(12, -4)])
    expect(read([createFrame(head, '{"a":1}')])).toEqual(['{"metadata":{"a":1}}'])
  })

  test('with a header that is cut, or of an unknown type, is refused', () => {
    for (const head of [[1, 97, 7, 0, 9, 1], [200, 97], [1, 97, 10], [1]]) {
      expect(() => read([createFrame(Buffer.from(head), '{}')])).toThrow(BrokenFrame)
    }
  })

  test('of an unknown kind is refused', () => {
    expect(() => read([createFrame({ ':message-type': 'initial-response' }, '{}')])).toThrow(
      BrokenFrame,
    )
    expect(() => read([createFrame({}, '{}')])).toThrow(BrokenFrame)
  })

  test('of type exception or error is distinguished from every event', () => {
    expect(read([exceptionFrame('throttlingException', 'Slow down.')])).toEqual([
      '{"exception":{"type":"throttlingException","message":"{\\"message\\":\\"Slow down.\\"}"}}',
    ])
    const error = { ':message-type': 'error', ':error-code': 'Oops', ':error-message': 'No.' }
    expect(read([createFrame(error, '')])).toEqual([
      '{"exception":{"type":"Oops","message":"No."}}',
    ])
  })
})
