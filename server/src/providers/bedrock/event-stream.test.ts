import { describe, expect, test } from 'bun:test'
import * as fc from '../../../testing/property'
import { BrokenFrame, FrameReader } from './event-stream'
import {
  createEventFrame,
  exceptionFrame,
  createFrame,
} from '../../../testing/providers/bedrock-samples'
import { EventTooLong, maxEventLength } from '../../wire/sse'

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

  test('is the same for any events and cuts', () => {
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

  test('is cut when it ends inside a frame', () => {
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

  test('with random bytes is rejected, with our own text', () => {
    const property = fc.property(fc.uint8Array({ minLength: 1, maxLength: 200 }), (bytes) => {
      expect(() => read([bytes])).toThrow(BrokenFrame)
    })
    fc.assert(property, { numRuns: 1000 })
  })
})

describe('a frame', () => {
  test('finding V11: longer than a whole answer is rejected before its bytes arrive', () => {
    const head = createFrame(
      { ':message-type': 'event', ':event-type': 'x' },
      'x'.repeat(maxEventLength),
    )
    expect(() => new FrameReader().push(head.subarray(0, 12))).toThrow(EventTooLong)
  })

  test('finding V11: with some MB is read, and small ones after it', () => {
    const payload = JSON.stringify('x'.repeat(3 * 1024 * 1024))
    const headers = { ':message-type': 'event', ':event-type': 'x' }
    const frames = [createFrame(headers, payload), createFrame(headers, '1')]
    const bytes = Buffer.concat([...frames, ...frames, ...frames])
    const pieces = Array.from({ length: 100 }, (_, at) =>
      bytes.subarray(
        Math.ceil((at * bytes.length) / 100),
        Math.ceil(((at + 1) * bytes.length) / 100),
      ),
    )
    const one = [`{"x":${payload}}`, '{"x":1}']
    expect(read(pieces)).toEqual([...one, ...one, ...one])
  })

  test('is rejected when its headers are longer than itself', () => {
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

  test('with a header that is cut, or of an unknown type, is rejected', () => {
    for (const head of [[1, 97, 7, 0, 9, 1], [200, 97], [1, 97, 10], [1]]) {
      expect(() => read([createFrame(Buffer.from(head), '{}')])).toThrow(BrokenFrame)
    }
  })

  test('with an unknown kind is rejected', () => {
    expect(() => read([createFrame({ ':message-type': 'initial-response' }, '{}')])).toThrow(
      BrokenFrame,
    )
    expect(() => read([createFrame({}, '{}')])).toThrow(BrokenFrame)
  })

  test('with the type exception or error is distinguished from every event', () => {
    expect(read([exceptionFrame('throttlingException', 'Slow down.')])).toEqual([
      '{"exception":{"type":"throttlingException","message":"{\\"message\\":\\"Slow down.\\"}"}}',
    ])
    const error = { ':message-type': 'error', ':error-code': 'Oops', ':error-message': 'No.' }
    expect(read([createFrame(error, '')])).toEqual([
      '{"exception":{"type":"Oops","message":"No."}}',
    ])
  })
})
