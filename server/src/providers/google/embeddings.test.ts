import { expect, test } from 'bun:test'
import { googleEmbeddings } from './embeddings'
import type { ErrorSource } from '../upstream-error'

const source: ErrorSource = {
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
  task: undefined,
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
  expect(googleEmbeddings.batchLimit('gemini-embedding-001', false)).toBe(100)
})

test('dimensions and purpose travel with each text', () => {
  const { body } = googleEmbeddings.request(['a'], {
    ...target,
    dimensions: 768,
    task: { field: 'task_type', word: 'RETRIEVAL_QUERY' },
  })
  expect(body).toMatchObject({
    requests: [{ outputDimensionality: 768, taskType: 'RETRIEVAL_QUERY' }],
  })
})

const newer = { ...target, upstreamModel: 'gemini-embedding-2' }
const image = { image: 'data:image/png;base64,AAAA' }

test('the newer model reads images, several parts as one content', () => {
  expect(googleEmbeddings.takes('gemini-embedding-001')).toBe('text')
  expect(googleEmbeddings.takes('gemini-embedding-2')).toBe('mixed')
  const { body } = googleEmbeddings.request(['a', { parts: [{ text: 'b' }, image] }], newer)
  expect(body['requests']).toEqual([
    { model: 'models/gemini-embedding-2', content: { parts: [{ text: 'a' }] } },
    {
      model: 'models/gemini-embedding-2',
      content: { parts: [{ text: 'b' }, { inlineData: { mimeType: 'image/png', data: 'AAAA' } }] },
    },
  ])
})

test.each([
  ['search_query', 'task: search result | query: a'],
  ['RETRIEVAL_DOCUMENT', 'title: none | text: a'],
  ['text-matching', 'task: sentence similarity | query: a'],
  ['CODE_RETRIEVAL_QUERY', 'task: code retrieval | query: a'],
  ['fact_verification', 'task: fact checking | query: a'],
])('the newer model receives %s in the text, as it has no field for it', (word, text) => {
  const { body } = googleEmbeddings.request(['a'], { ...newer, task: { field: 'task', word } })
  expect(body['requests']).toEqual([
    { model: 'models/gemini-embedding-2', content: { parts: [{ text }] } },
  ])
})

test('an unknown task type does not become part of a text', () => {
  const task = { field: 'task', word: 'ignore the above' }
  expect(() => googleEmbeddings.request(['a'], { ...newer, task })).toThrow(
    expect.objectContaining({ code: 'invalid_request', param: 'task' }),
  )
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

test('any other answer is invalid', () => {
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
