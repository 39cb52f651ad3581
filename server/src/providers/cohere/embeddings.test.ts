import { describe, expect, test } from 'bun:test'
import { cohereEmbeddings } from './embeddings'
import { ApiError } from '../../errors'
import { hasRecordings, recordedAnswer, sampleSource } from '../../../testing/providers/samples'
import { noUsage } from '../../wire/usage'

const headers = new Headers()
const read = (body: unknown) => cohereEmbeddings.read({ body, headers }, sampleSource)
const target = { upstreamModel: 'embed-v4.0', dimensions: undefined, task: undefined }

describe('embeddings', () => {
  test('the request', () => {
    const body = {
      model: 'embed-v4.0',
      texts: ['a', 'b'],
      input_type: 'search_document',
      embedding_types: ['float'],
      truncate: 'NONE',
    }
    expect(cohereEmbeddings.request(['a', 'b'], target)).toEqual({ path: '/v2/embed', body })
    const fields = {
      ...target,
      dimensions: 256,
      task: { field: 'task_type', word: 'RETRIEVAL_QUERY' },
    }
    expect(cohereEmbeddings.request(['a', 'b'], fields).body).toEqual({
      ...body,
      input_type: 'search_query',
      output_dimension: 256,
    })
    expect(cohereEmbeddings.batchLimit('embed-v4.0', false)).toBe(96)
  })

  const image = { image: 'data:image/png;base64,AAAA' }

  test('the request with images: with texts in one input, or one alone', () => {
    expect(cohereEmbeddings.takes('embed-v4.0')).toBe('mixed')
    const { body } = cohereEmbeddings.request(['a', { parts: [{ text: 'b' }, image] }], target)
    expect(body).toEqual({
      model: 'embed-v4.0',
      inputs: [
        { content: [{ type: 'text', text: 'a' }] },
        {
          content: [
            { type: 'text', text: 'b' },
            { type: 'image_url', image_url: { url: image.image } },
          ],
        },
      ],
      input_type: 'search_document',
      embedding_types: ['float'],
      truncate: 'NONE',
    })
    const older = { ...target, upstreamModel: 'embed-multilingual-light-v3.0' }
    expect(cohereEmbeddings.takes(older.upstreamModel)).toBe('one')
    expect(cohereEmbeddings.batchLimit(older.upstreamModel, true)).toBe(1)
    expect(cohereEmbeddings.request([{ parts: [image] }], older).body).toEqual({
      model: older.upstreamModel,
      images: [image.image],
      input_type: 'image',
      embedding_types: ['float'],
    })
    expect(cohereEmbeddings.takes('embed-english-v2.0')).toBe('text')
  })

  test('the older generations have one length of vector', () => {
    const older = { ...target, upstreamModel: 'embed-english-v3.0', dimensions: 256 }
    expect(() => cohereEmbeddings.request(['a'], older)).toThrow(
      expect.objectContaining({ param: 'dimensions' }),
    )
  })

  test('images are counted in tokens of their own, or by the piece', () => {
    const embeddings = { float: [[1]] }
    const usageOf = (billed_units: object) => read({ embeddings, meta: { billed_units } }).usage
    expect(usageOf({ input_tokens: 3, image_tokens: 1024 })).toEqual({
      ...noUsage,
      input: 3,
      imageInput: 1024,
    })
    expect(usageOf({ image_tokens: 1024 })).toEqual({ ...noUsage, imageInput: 1024 })
    expect(usageOf({ images: 1 })).toEqual(noUsage)
    expect(usageOf({ input_tokens: 3, image_tokens: -1 })).toBeUndefined()
  })

  test('I11: the answer, counted or not', () => {
    const embeddings = { float: [[0.5], [-0.5]] }
    const counted = { embeddings, meta: { billed_units: { input_tokens: 4 } } }
    expect(read(counted)).toEqual({
      embeddings: [[0.5], [-0.5]],
      usage: { ...noUsage, input: 4 },
    })
    for (const meta of [undefined, {}, { billed_units: {} }]) {
      expect(read({ embeddings, meta })).toEqual({
        embeddings: [[0.5], [-0.5]],
        usage: undefined,
      })
    }
  })

  test.if(hasRecordings)('the recorded answer', () => {
    const { embeddings, usage } = read(recordedAnswer('cohere-embedding.json'))
    expect(embeddings.map((vector) => vector.length)).toEqual([5, 5])
    expect(embeddings[1]?.[1]).toBe(0.00037765503)
    expect(usage).toEqual({ ...noUsage, input: 10 })
  })

  test.each([[undefined], [{}], [{ embeddings: [[1]] }], [{ embeddings: { float: ['x'] } }]])(
    'none in %o',
    (body) => expect(() => read(body)).toThrow(ApiError),
  )
})
