import { expect, test } from 'bun:test'
import { vertexEmbeddings } from './embeddings'
import { source } from '../google/recordings-for-tests'

const read = (body: unknown) => vertexEmbeddings.read({ body, headers: new Headers() }, source)
const target = { upstreamModel: 'text-embedding-005', dimensions: undefined, inputType: undefined }

test('older models predict, several texts at once, and refuse what is too long', () => {
  const asked = { ...target, dimensions: 256, inputType: 'RETRIEVAL_QUERY' }
  expect(vertexEmbeddings.request(['a', 'b'], asked)).toEqual({
    path: '/publishers/google/models/text-embedding-005:predict',
    body: {
      instances: [
        { content: 'a', task_type: 'RETRIEVAL_QUERY' },
        { content: 'b', task_type: 'RETRIEVAL_QUERY' },
      ],
      parameters: { outputDimensionality: 256, autoTruncate: false },
    },
  })
})

test('newer models take one text, as a content', () => {
  const upstreamModel = 'google/gemini-embedding-2'
  const asked = { upstreamModel, dimensions: 256, inputType: 'RETRIEVAL_QUERY' }
  expect(vertexEmbeddings.request(['a'], asked)).toEqual({
    path: '/publishers/google/models/gemini-embedding-2:embedContent',
    body: {
      content: { parts: [{ text: 'a' }] },
      embedContentConfig: {
        taskType: 'RETRIEVAL_QUERY',
        outputDimensionality: 256,
        autoTruncate: false,
      },
    },
  })
  expect(vertexEmbeddings.batchLimit(upstreamModel)).toBe(1)
})

test('the first Gemini model predicts one text; others five', () => {
  const { path } = vertexEmbeddings.request(['a'], {
    ...target,
    upstreamModel: 'gemini-embedding-001',
  })
  expect(path).toEndWith(':predict')
  expect(vertexEmbeddings.batchLimit('gemini-embedding-001')).toBe(1)
  expect(vertexEmbeddings.batchLimit('text-embedding-005')).toBe(5)
})

const prediction = (values: number[], token_count?: number) => ({
  embeddings: { values, ...(token_count !== undefined && { statistics: { token_count } }) },
})

test('predictions come in order, and their tokens are summed', () => {
  const answer = read({ predictions: [prediction([1, 2], 3), prediction([4], 5)] })
  expect(answer.embeddings).toEqual([[1, 2], [4]])
  expect(answer.usage).toMatchObject({ input: 8, output: 0, flawed: false })
})

test('where one text was not counted nothing is', () => {
  expect(read({ predictions: [prediction([1], 3), prediction([4])] }).usage).toBeUndefined()
})

test('a content has one vector', () => {
  const usageMetadata = { promptTokenCount: 4, totalTokenCount: 4 }
  const answer = read({ embedding: { values: [1, 2] }, truncated: false, usageMetadata })
  expect(answer.embeddings).toEqual([[1, 2]])
  expect(answer.usage).toMatchObject({ input: 4 })
  expect(read({ embedding: { values: [1] } }).usage).toBeUndefined()
})

test('anything else is no answer', () => {
  for (const body of [null, {}, { predictions: [] }, { predictions: [{}] }, { embedding: {} }]) {
    expect(() => read(body)).toThrow(expect.objectContaining({ code: 'provider_error' }))
  }
})
