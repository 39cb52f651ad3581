import { expect, test } from 'bun:test'
import { counted } from './figures'

test('one is singular, every other number is plural', () => {
  const told = [0, 1, 2, 1200].map((value) => counted(value, 'request'))
  expect(told).toEqual(['0 requests', '1 request', '2 requests', '1,200 requests'])
})
