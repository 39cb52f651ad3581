import { expect, test } from 'bun:test'
import { countTokens } from 'gpt-tokenizer/encoding/o200k_base'
import { boundRanking, estimateRanking, usualTokensPerDocument } from './ranking-volume'
import * as fc from '../../testing/property'

const ascii = (maxLength: number) => fc.string({ minLength: 1, maxLength })
const texts = fc.array(fc.oneof(ascii(40), ascii(3000)), { minLength: 1, maxLength: 130 })
const cuts = fc.option(fc.integer({ min: 1, max: 5000 }), { nil: undefined })

/** Counts as Cohere does: documents are cut, then divided so that the query fits into each part. */
function countUnits(query: string, documents: readonly string[], maxTokens: number): number {
  const part = 500 - Math.min(countTokens(query), 250)
  const parts = documents.map((text) =>
    Math.max(1, Math.ceil(Math.min(countTokens(text), maxTokens) / part)),
  )
  return Math.ceil(parts.reduce((sum, one) => sum + one, 0) / 100)
}

test('no ranking is billed for more search units than are held', () => {
  fc.assert(
    fc.property(ascii(1500), texts, cuts, (query, documents, cut) => {
      const maxTokensPerDocument = cut ?? usualTokensPerDocument
      const { searches } = boundRanking({ query, documents, maxTokensPerDocument })
      expect(countUnits(query, documents, maxTokensPerDocument)).toBeLessThanOrEqual(searches)
    }),
    { numRuns: 60 },
  )
})

test('no ranking is billed for more tokens than are held: the query with each document', () => {
  fc.assert(
    fc.property(ascii(300), texts, (query, documents) => {
      const ofQuery = countTokens(query)
      const counted = documents.reduce((sum, text) => sum + ofQuery + countTokens(text), 0)
      const ranking = { query, documents, maxTokensPerDocument: undefined }
      expect(counted).toBeLessThanOrEqual(boundRanking(ranking).inputTokens)
      expect(estimateRanking(ranking)).toMatchObject({ estimated: true, output: 0 })
    }),
    { numRuns: 60 },
  )
})

const shortRanking = (count: number) => ({
  query: 'one two',
  documents: Array.from({ length: count }, () => 'word'),
  maxTokensPerDocument: usualTokensPerDocument,
})

const unitsOf = (count: number) => [
  boundRanking(shortRanking(count)).searches,
  estimateRanking(shortRanking(count)).searches,
]

test('a hundred short documents are one search unit, and one more is another', () => {
  expect([1, 100, 101].map(unitsOf)).toEqual([
    [1, 1],
    [1, 1],
    [2, 2],
  ])
})
