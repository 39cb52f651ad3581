import { expect, test } from 'bun:test'
import { exactUsd, requestUsd, usd } from './money'

test('finding B8: a total has two decimals, for any number in the ledger', () => {
  const totals = [3285.947939659, 58_467.812746699, 85.436822756, 5000, 0.01, 0]
  expect(totals.map(usd)).toEqual([
    '$3,285.95',
    '$58,467.81',
    '$85.44',
    '$5,000.00',
    '$0.01',
    '$0.00',
  ])
})

test('finding B8: a total below a cent is not zero', () => {
  expect([0.009, 0.00123456, 0.000000001, -0.002].map(usd)).toEqual([
    '$0.009',
    '$0.0012',
    '$0.000000001',
    '-$0.002',
  ])
})

test('finding B8: the cost of a request has cents, and four digits below a dollar', () => {
  const costs = [12.3456, 1, 0.5, 0.123456789, 0.00300512, 0.000012, 0.000000001, 0]
  expect(costs.map(requestUsd)).toEqual([
    '$12.35',
    '$1.00',
    '$0.50',
    '$0.1235',
    '$0.003005',
    '$0.000012',
    '$0.000000001',
    '$0.00',
  ])
})

test('finding B8: a price has all of its digits', () => {
  expect([0.15, 1.25, 0.000000001, 58_467.812746699].map(exactUsd)).toEqual([
    '$0.15',
    '$1.25',
    '$0.000000001',
    '$58,467.812746699',
  ])
  expect(exactUsd(null)).toBe('–')
})
