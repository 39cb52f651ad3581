import { expect, test } from 'bun:test'
import { googleEmbeddings } from './embeddings'
import type { Source } from '../upstream-error'

const source: Source = {
  provider: 'google',
  secret: null,
  textField: 'input',
  wasSent: () => false,
  contextLength: null,
  maxOutputTokens: null,
}
const read = (body: unknown) => googleEmbeddings.read({ body, headers: new Headers() }, source)
const target = {
  upstreamModel: 'gemini-embedding-001',
  dimensions: undefined,
  inputType: undefined,
}

test('one text or many are one batch, in order', () => {
  expect(googleEmbeddings.request(['a', 'b'], target)).toEqual({
    path: '/models/gemini-embedding-001:batchEmbedContents',
    body: {
      requests: ['a', 'b'].map((text) => ({
        model: 'models/gemini-embedding-001',
        content: { parts: [{ text }] },
      })),
    },
  })
  expect(googleEmbeddings.batchLimit('gemini-embedding-001')).toBe(100)
})

test('dimensions and purpose travel with each text', () => {
  const { body } = googleEmbeddings.request(['a'], {
    ...target,
    dimensions: 768,
    inputType: 'RETRIEVAL_QUERY',
  })
  expect(body).toMatchObject({
    requests: [{ outputDimensionality: 768, taskType: 'RETRIEVAL_QUERY' }],
  })
})

test('vectors come back in order; older models do not count', () => {
  expect(read({ embeddings: [{ values: [0.1, -2] }, { values: [3] }] })).toEqual({
    embeddings: [[0.1, -2], [3]],
    usage: undefined,
  })
})

test('newer models count', () => {
  const usageMetadata = { promptTokenCount: 6, totalTokenCount: 6 }
  expect(read({ embeddings: [{ values: [1] }], usageMetadata }).usage).toMatchObject({
    input: 6,
    output: 0,
  })
})

test('anything else is no answer', () => {
  const bodies = [
    null,
    '',
    {},
    { embeddings: [{ values: [] }] },
    { embeddings: [{ values: ['1'] }] },
    { embeddings: [{}] },
    { embedding: { values: [1] } },
  ]
  for (const body of bodies) {
    expect(() => read(body)).toThrow(expect.objectContaining({ code: 'provider_error' }))
  }
})
