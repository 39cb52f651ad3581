import { expect, test } from 'bun:test'
import { array, assert, nat, property, string } from '../../../testing/property'
import { BodyFrames } from './answer-body'
import { MalformedAnswer } from './answer-head'

const chunked = () => new BodyFrames({ framing: 'chunked', length: 0 })

/** All of a body whose bytes are cut at these places, and how many bytes were left. */
function read(frames: BodyFrames, text: string, cuts: readonly number[] = []) {
  const bytes = Buffer.from(text, 'latin1')
  const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)), bytes.length]
  const sorted = places.toSorted((one, other) => one - other)
  let body = ''
  let surplus = 0
  for (const [index, from] of sorted.slice(0, -1).entries()) {
    // Each piece in memory of its own, as a socket gives it.
    const piece = Buffer.from(bytes.subarray(from, sorted[index + 1]))
    body += frames.push(piece).toString('latin1')
    surplus += frames.surplus
  }
  return { body, surplus, isWhole: frames.isComplete }
}

const chunk = (text: string) => `${text.length.toString(16)}\r\n${text}\r\n`

test('reads the same body for every split, and returns the bytes after it', () => {
  const texts = array(string({ minLength: 1, unit: 'binary-ascii', maxLength: 40 }))
  assert(
    property(texts, array(nat()), string({ unit: 'binary-ascii' }), (all, cuts, more) => {
      const sent = `${all.map(chunk).join('')}0\r\nx-trailer: 1\r\n\r\n`
      const whole = { body: all.join(''), surplus: more.length, isWhole: true }
      expect(read(chunked(), sent + more, cuts)).toEqual(whole)
      const length = new BodyFrames({ framing: 'length', length: sent.length })
      expect(read(length, sent + more, cuts)).toEqual({ ...whole, body: sent })
    }),
    { numRuns: 500 },
  )
})

test('a body that ends with its connection is complete', () => {
  const frames = new BodyFrames({ framing: 'until-close', length: 0 })
  expect(read(frames, 'all of it', [3])).toEqual({ body: 'all of it', surplus: 0, isWhole: false })
  expect(frames.mayEnd).toBe(true)
  expect(chunked().mayEnd).toBe(false)
})

test('sizes may have extensions, zeros before them and both cases', () => {
  const sent = '00A ; name="v"\r\n0123456789\r\n1;x\r\na\r\n000\r\n\r\n'
  expect(read(chunked(), sent)).toMatchObject({ body: '0123456789a', isWhole: true })
})

test.each([
  'x\r\n',
  '\r\n',
  '-1\r\n',
  '0x5\r\n',
  '5 5\r\nhello\r\n',
  '5\nhello\r\n',
  '5\r\nhello!\r\n',
  '5\r\nhello\n5\r\n',
  'fffffffffffff\r\n',
  '1;bare\rreturn\r\n',
  `1;${'x'.repeat(5000)}\r\n`,
  'f'.repeat(5000),
  `0\r\n${'x: y\r\n'.repeat(4000)}`,
  '0\r\nx: y\n\r\n',
])('chunks that could be read in two ways, or have no end, are rejected: %p', (sent) => {
  expect(() => read(chunked(), sent)).toThrow(MalformedAnswer)
  const cuts = Array.from({ length: Math.min(sent.length, 100) }, (_, at) => at)
  expect(() => read(chunked(), sent, cuts)).toThrow(MalformedAnswer)
})

test('S2: a body in very small chunks is rejected before it has cost much, one in small ones is not', () => {
  const tiny = chunk('x').repeat(10_000)
  expect(() => read(chunked(), tiny)).toThrow(MalformedAnswer)
  // So many may be small whatever they hold, such as the keep-alives of an hour.
  const few = `${chunk('x').repeat(4000)}0\r\n\r\n`
  expect(read(chunked(), few)).toMatchObject({ isWhole: true })
  const events = `${chunk('data: {"choices":[{}]}\n\n'.padEnd(40)).repeat(100_000)}0\r\n\r\n`
  expect(read(chunked(), events)).toMatchObject({ isWhole: true })
})
