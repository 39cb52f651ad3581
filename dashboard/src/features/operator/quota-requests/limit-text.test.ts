import { expect, test } from 'bun:test'
import { quotaTypes } from '../../../url/period'
import { formatLimit } from './limit-text'

test.each(quotaTypes)('no limit of %s reads none', (type) => {
  expect(formatLimit(type, null)).toBe('none')
})

test('a spending limit is in dollars, other limits are counts', () => {
  expect(formatLimit('monthly_spend', 1500)).toBe('$1,500.00')
  expect(formatLimit('tokens_per_minute', 100_000)).toBe('100,000')
  expect(formatLimit('concurrent_requests', 0)).toBe('0')
})
