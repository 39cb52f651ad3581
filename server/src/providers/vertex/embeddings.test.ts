import { expect, test } from 'bun:test'
import { vertexEmbeddings } from './embeddings'
import { source } from '../../../testing/providers/google-recordings'

const read = (body: unknown) => vertexEmbeddings.read({ body, headers: new Headers() }, source)
const target = { upstreamModel: 'text-embedding-005', dimensions: undefined, task: undefined }

test('older models predict, several texts at once, and reject overlong ones', () => {
  const targetWithTask = { ...target, dimensions: 256, task: { field: 'task_type', word: 'query' } }
  expect(vertexEmbeddings.request(['a', 'b'], targetWithTask)).toEqual({
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
  const targetWithTask = {
    upstreamModel,
    dimensions: 256,
    task: { field: 'task_type', word: 'query' },
  }
  expect(vertexEmbeddings.request(['a'], targetWithTask)).toEqual({
    path: '/publishers/google/models/gemini-embedding-2:embedContent',
    body: {
      // It has no field for a task type.
      content: { parts: [{ text: 'task: search result | query: a' }] },
      embedContentConfig: { outputDimensionality: 256, autoTruncate: false },
    },
  })
  expect(vertexEmbeddings.batchLimit(upstreamModel, false)).toBe(1)
})

test('the first Gemini model predicts one text; others five', () => {
  const { path } = vertexEmbeddings.request(['a'], {
    ...target,
    upstreamModel: 'gemini-embedding-001',
  })
  expect(path).toEndWith(':predict')
  expect(vertexEmbeddings.batchLimit('gemini-embedding-001', false)).toBe(1)
  expect(vertexEmbeddings.batchLimit('text-embedding-005', false)).toBe(5)
})

const image = { image: 'data:image/png;base64,AAAA' }

test('the newer model reads texts and images as one content', () => {
  const upstreamModel = 'gemini-embedding-2'
  expect(vertexEmbeddings.takes(upstreamModel)).toBe('mixed')
  const { body } = vertexEmbeddings.request([{ parts: [{ text: 'a' }, image] }], {
    ...target,
    upstreamModel,
  })
  expect(body['content']).toEqual({
    parts: [{ text: 'a' }, { inlineData: { mimeType: 'image/png', data: 'AAAA' } }],
  })
})

test('the multimodal model takes one text or one image, and no task type', () => {
  const targetWithTask = { ...target, upstreamModel: 'multimodalembedding@001' }
  expect(vertexEmbeddings.takes(targetWithTask.upstreamModel)).toBe('one')
  expect(vertexEmbeddings.batchLimit(targetWithTask.upstreamModel, false)).toBe(1)
  expect(
    vertexEmbeddings.request([{ parts: [image] }], { ...targetWithTask, dimensions: 512 }),
  ).toEqual({
    path: '/publishers/google/models/multimodalembedding@001:predict',
    body: {
      instances: [{ image: { bytesBase64Encoded: 'AAAA', mimeType: 'image/png' } }],
      parameters: { dimension: 512 },
    },
  })
  expect(vertexEmbeddings.request(['a'], targetWithTask).body).toEqual({
    instances: [{ text: 'a' }],
  })
  const task = { field: 'input_type', word: 'search_query' }
  expect(() => vertexEmbeddings.request(['a'], { ...targetWithTask, task })).toThrow(
    'not support task types',
  )
})

test('the multimodal model answers by kind, and counts nothing', () => {
  expect(read({ predictions: [{ imageEmbedding: [1, 2] }], deployedModelId: '1' })).toEqual({
    embeddings: [[1, 2]],
    usage: undefined,
  })
  expect(read({ predictions: [{ textEmbedding: [3] }] }).embeddings).toEqual([[3]])
})

const prediction = (values: number[], token_count?: number) => ({
  embeddings: { values, ...(token_count !== undefined && { statistics: { token_count } }) },
})

test('predictions come in order, and their tokens are summed', () => {
  const answer = read({ predictions: [prediction([1, 2], 3), prediction([4], 5)] })
  expect(answer.embeddings).toEqual([[1, 2], [4]])
  expect(answer.usage).toMatchObject({ input: 8, output: 0, flawed: false })
})

test('one uncounted text makes the whole count absent', () => {
  expect(read({ predictions: [prediction([1], 3), prediction([4])] }).usage).toBeUndefined()
})

test('a content has one vector', () => {
  const usageMetadata = { promptTokenCount: 4, totalTokenCount: 4 }
  const answer = read({ embedding: { values: [1, 2] }, truncated: false, usageMetadata })
  expect(answer.embeddings).toEqual([[1, 2]])
  expect(answer.usage).toMatchObject({ input: 4 })
  expect(read({ embedding: { values: [1] } }).usage).toBeUndefined()
})

test('any other answer is invalid', () => {
  for (const body of [null, {}, { predictions: [] }, { predictions: [{}] }, { embedding: {} }]) {
    expect(() => read(body)).toThrow(expect.objectContaining({ code: 'provider_error' }))
  }
})
