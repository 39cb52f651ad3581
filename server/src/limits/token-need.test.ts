import { expect, test } from 'bun:test'
import { estimateTokenNeed } from './token-need'
import { estimatePromptTokens } from '../metering/estimate'

const size = (limit?: number) => ({
  textField: 'messages' as const,
  output: limit === undefined ? undefined : { limit, field: 'max_tokens' },
  texts: () => [],
  tokens: 0,
})

test.each([
  { answers: 1, limit: 500, max: null, wanted: 510 },
  { answers: 3, limit: 500, max: null, wanted: 1510 },
  { answers: 1, limit: undefined, max: null, wanted: 1034 },
  { answers: 1, limit: undefined, max: 256, wanted: 266 },
  { answers: 1, limit: undefined, max: 128_000, wanted: 1034 },
  { answers: 0, limit: undefined, max: null, wanted: 10 },
])('%j', ({ answers, limit, max, wanted }) => {
  const need = { promptTokens: 10, answers }
  expect(estimateTokenNeed(need, size(limit), { maxOutputTokens: max })).toBe(wanted)
})

test('a short request is estimated by its length, a long one by its texts', () => {
  let looked = 0
  const short = () => ({ texts: [], media: (looked += 1) })
  expect(estimatePromptTokens(458, short)).toBe(100)
  expect(looked).toBe(0)
  const prompt = { texts: ['x'.repeat(45_998)], media: 2 }
  expect(estimatePromptTokens(9_000_000, () => prompt)).toBe(12_000)
})
