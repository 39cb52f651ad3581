import { expect, test } from 'bun:test'
import { storable } from './storable'

test('zero characters and halves of pairs are replaced, all else stays', () => {
  expect(storable('a\0b\ud800c\udc00')).toBe('ab\ufffdc\ufffd')
  for (const text of ['', 'plain', 'é€', '😀 and 😀', '\u0001\n\t'])
    expect(storable(text)).toBe(text)
})
