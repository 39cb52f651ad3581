import { describe, expect, test } from 'bun:test'
import { cohereEmbeddings } from './embeddings'
import { ApiError } from '../../errors'
import { hasRecordings, recordedAnswer, sampleSource } from '../samples'
import { noUsage } from '../../wire/usage'

const headers = new Headers()
const read = (body: unknown) => cohereEmbeddings.read({ body, headers }, sampleSource)
const target = { upstreamModel: 'embed-v4.0', dimensions: undefined, inputType: undefined }

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
    const fields = { ...target, dimensions: 256, inputType: 'search_query' }
    expect(cohereEmbeddings.request(['a', 'b'], fields).body).toEqual({
      ...body,
      input_type: 'search_query',
      output_dimension: 256,
    })
    expect(cohereEmbeddings.batchLimit()).toBe(96)
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
