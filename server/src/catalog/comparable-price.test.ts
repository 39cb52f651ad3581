import { expect, test } from 'bun:test'
import { toInputPrice } from './comparable-price'

const reranker = { category: 'rerank' } as const
/** 2 USD for 1,000 search units. */
const perUnit = { input: 0n, search: 2_000_000n }

test('a price per search unit is compared by the units that a ranking has for its tokens', () => {
  const short = { inputTokens: 500, searchUnits: 1 }
  const long = { inputTokens: 100_000, searchUnits: 2 }
  expect(toInputPrice(reranker, perUnit, short)).toBe(4_000_000_000n)
  expect(toInputPrice(reranker, perUnit, long)).toBe(40_000_000n)
})

test('without a ranking, a search unit counts as a full one', () => {
  expect(toInputPrice(reranker, perUnit)).toBe(40_000_000n)
  expect(toInputPrice(reranker, { input: 1_000_000_000n })).toBe(1_000_000_000n)
})

test('the web searches of a chat model are not compared', () => {
  expect(toInputPrice({ category: 'chat' }, { ...perUnit, input: 5n })).toBe(5n)
})

test('a ranking without tokens has a price', () => {
  const empty = { inputTokens: 0, searchUnits: 1 }
  expect(toInputPrice(reranker, perUnit, empty)).toBe(2_000_000_000_000n)
})

test('prices of sound by time and by token are compared', () => {
  const transcriber = { category: 'transcription' } as const
  // 0.36 USD for an hour of 36,000 tokens.
  expect(toInputPrice(transcriber, { input: 0n, audioHour: 360_000_000n })).toBe(10_000_000_000n)
  expect(toInputPrice(transcriber, { input: 5n, audioInput: 7n })).toBe(7n)
})
