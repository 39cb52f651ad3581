import { expect, test } from 'bun:test'
import * as fc from '@tollgate/server/testing/property'
import { beginning, Pieces } from './pieces'

const reader = (pieces: Uint8Array[]) => {
  const rest = [...pieces]
  return () => Promise.resolve(rest.shift())
}

async function all(pieces: Pieces, sizes: readonly number[]): Promise<string[]> {
  const texts: string[] = []
  for (let at = 0; await pieces.more(); at += 1) {
    const size = sizes[at % sizes.length] ?? 4
    const { text, bytes } = pieces.take(size)
    expect(bytes).toBe(Buffer.byteLength(text))
    expect(bytes).toBeLessThanOrEqual(size)
    expect(text).not.toBe('')
    texts.push(text)
  }
  return texts
}

const cutAt = (bytes: Buffer, cuts: readonly number[]) => {
  const ends = [...cuts.map((cut) => cut % (bytes.length + 1)), 0, bytes.length]
  const sorted = ends.toSorted((a, b) => a - b)
  return sorted.slice(1).map((end, at) => bytes.subarray(sorted[at], end))
}

test('a text arrives unchanged for every cut and every window', async () => {
  const property = fc.asyncProperty(
    fc.string({ unit: 'binary', maxLength: 200 }),
    fc.array(fc.nat(), { maxLength: 10 }),
    fc.array(fc.integer({ min: 4, max: 30 }), { minLength: 1, maxLength: 5 }),
    async (text, cuts, sizes) => {
      const pieces = new Pieces(reader(cutAt(Buffer.from(text), cuts)))
      const texts = await all(pieces, sizes)
      expect(texts.join('')).toBe(Buffer.from(text).toString())
      // JSON would write half a character as an escape that other parsers reject.
      expect(texts.every((one) => one.isWellFormed())).toBe(true)
    },
  )
  await fc.assert(property, { numRuns: 300 })
})

test('invalid UTF-8 becomes replacement characters, and is counted as those', async () => {
  const pieces = new Pieces(reader([Buffer.from([0x61, 0xff, 0xe2, 0x82]), Buffer.from('b')]))
  expect((await all(pieces, [100])).join('')).toBe('a\uFFFD\uFFFDb')
})

test('a character that does not fit waits until there is room for it', async () => {
  const pieces = new Pieces(reader([Buffer.from('é!')]))
  expect(await pieces.more()).toBe(true)
  expect(pieces.take(1)).toEqual({ text: '', bytes: 0 })
  expect(pieces.take(2)).toEqual({ text: 'é', bytes: 2 })
})

test('a byte order mark is passed on', async () => {
  const pieces = new Pieces(reader([Buffer.from('\uFEFF{}')]))
  expect(await all(pieces, [100])).toEqual(['\uFEFF{}'])
})

test('the beginning of a text ends with a character', () => {
  expect(beginning('aé€😀', 9)).toBe('aé€')
  expect(beginning('aé€😀', 10)).toBe('aé€😀')
  expect(beginning('€', 2)).toBe('')
  expect(beginning('€', -5)).toBe('')
})
