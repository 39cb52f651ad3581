import { expect, test } from 'bun:test'
import { withPricedCaches } from './cache-lifetimes'

const hour = { cache_control: { type: 'ephemeral', ttl: '1h' } }
const minutes = { cache_control: { type: 'ephemeral' } }

/** Breakpoints wherever a request of either format has them. */
const bodyWith = (mark: object) => ({
  ...mark,
  system: [{ type: 'text', text: 'a', ...mark }],
  tools: [{ type: 'function', function: { name: 'look', ...mark }, ...mark }],
  messages: [
    { role: 'user', content: [{ type: 'text', text: 'a', ...mark }], ...mark },
    { role: 'assistant', tool_calls: [{ id: 'c', ...mark }] },
    { role: 'user', content: [{ type: 'tool_result', content: [{ type: 'text', ...mark }] }] },
  ],
})

test('an hour that a price has a rate for, or writes at the price of input, stays', () => {
  const body = bodyWith(hour)
  expect(withPricedCaches(body, { cacheWrite: 1n, cacheWriteLong: 2n })).toBe(body)
  expect(withPricedCaches(body, {})).toBe(body)
})

test('any other is of five minutes, at every place', () => {
  expect(withPricedCaches(bodyWith(hour), { cacheWrite: 1n })).toEqual(bodyWith(minutes))
  const short = bodyWith(minutes)
  expect(withPricedCaches(short, { cacheWrite: 1n })).toBe(short)
})
