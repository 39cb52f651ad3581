import { describe, expect, test } from 'bun:test'
import { bedrockEmbeddings } from './embeddings'
import { ApiError } from '../../errors'
import { sampleSource } from '../../../testing/providers/samples'
import type { EmbeddingItem } from '../../wire/embedding-request'
import { noUsage } from '../../wire/usage'

const write = (upstreamModel: string, inputs: EmbeddingItem[], fields = {}) =>
  bedrockEmbeddings.request(inputs, {
    upstreamModel,
    dimensions: undefined,
    task: undefined,
    ...fields,
  })
const taskOf = (word: string) => ({ field: 'input_type', word })
const read = (body: unknown, headers: Record<string, string> = {}) =>
  bedrockEmbeddings.read({ body, headers: new Headers(headers) }, sampleSource)

const titan = 'amazon.titan-embed-text-v2:0'
const nova = 'us.amazon.nova-2-multimodal-embeddings-v1:0'
const titanOfImages = 'amazon.titan-embed-image-v1'
const models = [
  'amazon.titan-embed-text-v1',
  titan,
  titanOfImages,
  nova,
  'cohere.embed-english-v3',
  'us.cohere.embed-v4:0',
]
const image = { image: 'data:image/png;base64,AAAA' }

describe('the request for embeddings', () => {
  test('for Titan', () => {
    expect(write(titan, ['a'])).toEqual({
      path: '/model/amazon.titan-embed-text-v2%3A0/invoke',
      body: { inputText: 'a' },
    })
    expect(write(titan, ['a'], { dimensions: 256 }).body).toEqual({
      inputText: 'a',
      dimensions: 256,
      normalize: true,
    })
  })

  test('for Nova', () => {
    const text = { truncationMode: 'NONE', value: 'a' }
    expect(write(nova, ['a']).body).toEqual({
      taskType: 'SINGLE_EMBEDDING',
      singleEmbeddingParams: { embeddingPurpose: 'GENERIC_INDEX', text },
    })
    const fields = { dimensions: 384, task: taskOf('TEXT_RETRIEVAL') }
    expect(write(nova, ['a'], fields).body['singleEmbeddingParams']).toEqual({
      embeddingPurpose: 'TEXT_RETRIEVAL',
      embeddingDimension: 384,
      text,
    })
  })

  test('for Cohere', () => {
    const body = {
      texts: ['a', 'b'],
      input_type: 'search_document',
      truncate: 'NONE',
      embedding_types: ['float'],
    }
    expect(write('cohere.embed-english-v3', ['a', 'b']).body).toEqual(body)
    const fields = { task: taskOf('search_query'), dimensions: 512 }
    expect(write('us.cohere.embed-v4:0', ['a', 'b'], fields).body).toEqual({
      ...body,
      input_type: 'search_query',
      output_dimension: 512,
    })
  })

  test('is one text a request, but for Cohere', () => {
    const models = [titan, nova, titanOfImages, 'cohere.embed-english-v3', 'us.cohere.embed-v4:0']
    const limits = (hasImages: boolean) =>
      models.map((model) => bedrockEmbeddings.batchLimit(model, hasImages))
    expect(limits(false)).toEqual([1, 1, 1, 96, 96])
    expect(limits(true)).toEqual([1, 1, 1, 1, 96])
  })

  test('for images: each model in its format', () => {
    expect(models.map((model) => bedrockEmbeddings.takes(model))).toEqual([
      'text',
      'text',
      'pair',
      'one',
      'one',
      'mixed',
    ])
    expect(
      write(titanOfImages, [{ parts: [{ text: 'a' }, image] }], { dimensions: 384 }).body,
    ).toEqual({
      inputText: 'a',
      inputImage: 'AAAA',
      embeddingConfig: { outputEmbeddingLength: 384 },
    })
    expect(write(titanOfImages, [{ parts: [image] }]).body).toEqual({ inputImage: 'AAAA' })
    expect(write(titanOfImages, ['a']).body).toEqual({ inputText: 'a' })
    expect(write(nova, [{ parts: [image] }]).body['singleEmbeddingParams']).toEqual({
      embeddingPurpose: 'GENERIC_INDEX',
      image: { format: 'png', source: { bytes: 'AAAA' } },
    })
    expect(write('us.cohere.embed-v4:0', ['b', { parts: [{ text: 'a' }, image] }]).body).toEqual({
      inputs: [
        { content: [{ type: 'text', text: 'b' }] },
        // As AWS documents it, the address itself.
        {
          content: [
            { type: 'text', text: 'a' },
            { type: 'image_url', image_url: image.image },
          ],
        },
      ],
      input_type: 'search_document',
      truncate: 'NONE',
      embedding_types: ['float'],
    })
    expect(write('cohere.embed-english-v3', [{ parts: [image] }]).body).toEqual({
      images: [image.image],
      input_type: 'image',
      embedding_types: ['float'],
    })
  })

  test('Nova reads no TIFF', () => {
    const tiff = { parts: [{ image: 'data:image/tiff;base64,AAAA' }] }
    expect(() => write(nova, [tiff])).toThrow('PNG, JPEG, GIF and WebP')
  })

  test('task types are translated for each model, and rejected where it has none', () => {
    const words = ['search_query', 'RETRIEVAL_DOCUMENT', 'classification', 'clustering']
    const purposes = words.map((word) => write(nova, ['a'], { task: taskOf(word) }).body)
    expect(purposes.map((body) => body['singleEmbeddingParams'])).toMatchObject([
      { embeddingPurpose: 'GENERIC_RETRIEVAL' },
      { embeddingPurpose: 'GENERIC_INDEX' },
      { embeddingPurpose: 'CLASSIFICATION' },
      { embeddingPurpose: 'CLUSTERING' },
    ])
    for (const model of [titan, titanOfImages, 'amazon.titan-embed-text-v1']) {
      const refused = { code: 'invalid_request', param: 'input_type' }
      expect(() => write(model, ['a'], { task: taskOf('search_query') })).toThrow(
        expect.objectContaining(refused),
      )
    }
  })

  test.each(['amazon.titan-embed-text-v1', 'cohere.embed-english-v3'])(
    '%s has one length of vector',
    (model) => {
      const refused = { code: 'invalid_request', param: 'dimensions' }
      expect(() => write(model, ['a'], { dimensions: 256 })).toThrow(
        expect.objectContaining(refused),
      )
    },
  )
})

describe('I11: the answer', () => {
  const usage = { ...noUsage, input: 6 }
  const answers = {
    Titan: {
      body: { embedding: [0.5, -1], inputTextTokenCount: 6 },
      embeddings: [[0.5, -1]],
      usage,
    },
    Nova: {
      body: { embeddings: [{ embeddingType: 'TEXT', embedding: [1, 0] }], inputTokenCount: 6 },
      embeddings: [[1, 0]],
      usage,
    },
    'Cohere by type, counted in a header': {
      body: { embeddings: { float: [[1], [2]] }, response_type: 'embeddings_by_type' },
      headers: { 'x-amzn-bedrock-input-token-count': '6' },
      embeddings: [[1], [2]],
      usage,
    },
    Cohere: { body: { embeddings: [[1], [2]] }, embeddings: [[1], [2]], usage: undefined },
    'an absurd count': {
      body: { embedding: [1], inputTextTokenCount: -4 },
      embeddings: [[1]],
      usage: undefined,
    },
    'a zero': {
      body: { embedding: [1], inputTextTokenCount: 0 },
      embeddings: [[1]],
      usage: noUsage,
    },
  }
  test.each(Object.entries(answers))(
    'from %s',
    (_name, { body, embeddings, usage: counted, ...rest }) => {
      const headers = 'headers' in rest ? rest.headers : {}
      expect(read(body, headers)).toEqual({ embeddings, usage: counted })
    },
  )

  test.each([[{}], ['x'], [{ embedding: ['a'] }], [{ embeddings: [{ vector: [1] }] }]])(
    'without valid vectors is an error: %o',
    (body) => expect(() => read(body)).toThrow(ApiError),
  )
})
