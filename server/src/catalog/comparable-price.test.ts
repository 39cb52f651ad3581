import { expect, test } from 'bun:test'
import { toComparablePrice, toPriceSum } from './comparable-price'

const reranker = { category: 'rerank' } as const
const chat = { category: 'chat' } as const
const speaker = { category: 'speech' } as const
const transcriber = { category: 'transcription' } as const
const painter = { category: 'image' } as const
/** 2 USD for 1,000 search units. */
const perUnit = { input: 0n, output: 0n, search: 2_000_000n }

test('a price per search unit is compared by the units that a ranking has for its tokens', () => {
  const short = { inputTokens: 500, searchUnits: 1 }
  const long = { inputTokens: 100_000, searchUnits: 2 }
  expect(toPriceSum(reranker, perUnit, short)).toBe(4_000_000_000n)
  expect(toPriceSum(reranker, perUnit, long)).toBe(40_000_000n)
})

test('without a ranking, a search unit counts as a full one', () => {
  expect(toPriceSum(reranker, perUnit)).toBe(40_000_000n)
  expect(toPriceSum(reranker, { input: 1_000_000_000n, output: 0n })).toBe(1_000_000_000n)
})

test('the web searches of a chat model are not compared', () => {
  expect(toComparablePrice(chat, { ...perUnit, input: 5n, output: 7n })).toEqual({
    input: 5n,
    output: 7n,
  })
})

test('a ranking without tokens has a price', () => {
  const empty = { inputTokens: 0, searchUnits: 1 }
  expect(toPriceSum(reranker, perUnit, empty)).toBe(2_000_000_000_000n)
})

test('four characters are compared as one token', () => {
  const rates = { input: 1n, output: 2n, inputCharacters: 10n, outputCharacters: 20n }
  expect(toComparablePrice(chat, rates)).toEqual({ input: 41n, output: 82n })
})

test('speech is compared by a million characters of text and the sound of them', () => {
  // 15 USD for a million characters.
  const perCharacter = { input: 0n, output: 0n, inputCharacters: 15_000_000_000n }
  expect(toComparablePrice(speaker, perCharacter)).toEqual({ input: 15_000_000_000n, output: 0n })
  // 0.6 USD for a million tokens of text, 12 for as many of sound.
  const perToken = { input: 600_000_000n, output: 0n, audioOutput: 12_000_000_000n }
  expect(toComparablePrice(speaker, perToken)).toEqual({
    input: 150_000_000n,
    output: 20_000_000_000n,
  })
  expect(toComparablePrice(speaker, { input: 0n, output: 3n }).output).toBe(5n)
})

test('prices of sound by time and by token are compared', () => {
  // 0.36 USD for an hour of 36,000 tokens.
  const perHour = { input: 0n, output: 0n, audioHour: 360_000_000n }
  expect(toComparablePrice(transcriber, perHour)).toEqual({ input: 10_000_000_000n, output: 0n })
  const perToken = { input: 5n, output: 10n, audioInput: 7n }
  expect(toComparablePrice(transcriber, perToken)).toEqual({ input: 7n, output: 4n })
  expect(toComparablePrice(transcriber, { input: 5n, output: 0n }).input).toBe(5n)
})

test('prices by image, pixel and token are compared by images of 1024x1024 pixels', () => {
  // 0.0264 USD for an image of 1,056 tokens.
  const perImage = { input: 0n, output: 0n, madeImage: 26_400_000n }
  expect(toPriceSum(painter, perImage)).toBe(25_000_000_000n)
  const perPixel = { input: 0n, output: 0n, madeMegapixel: 26_400_000n }
  expect(toPriceSum(painter, perPixel)).toBe(26_214_400_000n)
  const perToken = { input: 5_000_000_000n, output: 10_000_000_000n, imageOutput: 32_000_000_000n }
  expect(toComparablePrice(painter, perToken)).toEqual({
    input: 500_000_000n,
    output: 32_000_000_000n,
  })
  expect(toComparablePrice(painter, { input: 0n, output: 7n }).output).toBe(7n)
})
