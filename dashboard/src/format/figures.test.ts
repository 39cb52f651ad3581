import { expect, test } from 'bun:test'
import { formatCount } from './figures'

test('one is singular, every other number is plural', () => {
  const texts = [0, 1, 2, 1200].map((value) => formatCount(value, 'request'))
  expect(texts).toEqual(['0 requests', '1 request', '2 requests', '1,200 requests'])
})
