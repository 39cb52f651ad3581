import { expect, test } from 'bun:test'
import { counted } from './figures'

test('one is told in the singular, all others in the plural', () => {
  const told = [0, 1, 2, 1200].map((value) => counted(value, 'request'))
  expect(told).toEqual(['0 requests', '1 request', '2 requests', '1,200 requests'])
})
