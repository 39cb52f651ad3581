import { expect, test } from 'bun:test'
import { checkWidths, requestedWidth, widthOf } from './embedding-width'

const base64 = (...numbers: number[]) =>
  Buffer.from(Float32Array.from(numbers).buffer).toString('base64')
const acme = { provider: 'acme' }

test('finding V15: an embedding is as wide as it has numbers, in both encodings', () => {
  for (const numbers of [[1], [1, 2], [1, 2, 3], [1, 2, 3, 4, 5]]) {
    expect(widthOf(numbers)).toBe(numbers.length)
    expect(widthOf(base64(...numbers))).toBe(numbers.length)
  }
})

interface Case {
  what: string
  embeddings: (number[] | string)[]
  requested?: number
  problem?: string
}

const cases: Case[] = [
  { what: 'one of the requested width', embeddings: [[1, 2]], requested: 2 },
  { what: 'several of one width', embeddings: [[1, 2], base64(3, 4)] },
  { what: 'none', embeddings: [], requested: 2 },
  {
    what: 'one of another width',
    embeddings: [[1, 2, 3]],
    requested: 2,
    problem: '3 numbers instead of 2',
  },
  {
    what: 'the third of another width',
    embeddings: [[1, 2], [3, 4], [5]],
    problem: '1 numbers instead of 2',
  },
  {
    what: 'one in base64',
    embeddings: [base64(1, 2, 3)],
    requested: 2,
    problem: '3 numbers instead of 2',
  },
]

test.each(cases)('finding V15: $what', ({ embeddings, requested, problem }) => {
  const check = () => checkWidths(embeddings, requested, acme)
  if (problem === undefined) expect(check).not.toThrow()
  else expect(check).toThrow(problem)
})

test('finding V15: numbers of other kinds are not counted', () => {
  expect(requestedWidth({ dimensions: 256 })).toBe(256)
  expect(requestedWidth({ dimensions: 256, output_dtype: 'float' })).toBe(256)
  expect(requestedWidth({ dimensions: 256, output_dtype: 'binary' })).toBeUndefined()
  expect(requestedWidth({ dimensions: 256, embedding_type: 'ubinary' })).toBeUndefined()
  expect(requestedWidth({ dimensions: null })).toBeUndefined()
})
