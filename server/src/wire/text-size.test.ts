import { expect, test } from 'bun:test'
import * as fc from 'fast-check'
import { TextSize } from './text-size'

test.each([
  ['', 0, 0],
  ['Hello, world!', 13, 4],
  ['  two\n words ', 13, 2],
  ['{"a":1}', 7, 7],
  ['Привет, мир', 20, 3],
  ['你好吗', 9, 3],
  ['QUJDREVGR0hJSktM', 16, 2],
])('%p has %p bytes and %p words', (text, bytes, words) => {
  const size = new TextSize()
  size.add(text)
  expect([size.bytes, size.words]).toEqual([bytes, words])
})

test('is the same in one piece and in many', () => {
  const property = fc.property(fc.array(fc.string({ unit: 'grapheme' })), (pieces) => {
    const [one, many] = [new TextSize(), new TextSize()]
    one.add(pieces.join(''))
    for (const piece of pieces) many.add(piece)
    expect([many.bytes, many.words]).toEqual([one.bytes, one.words])
  })
  fc.assert(property)
})
