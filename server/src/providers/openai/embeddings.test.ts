import { describe, expect, test } from 'bun:test'
import { findAddressesToFetch } from './embedding-images'
import { toUpstreamEmbedding } from './embeddings'
import { providers } from '../registry'
import type { EmbeddingInput } from '../../wire/embedding-request'

const data = 'data:image/png;base64,AAAA'
const address = 'https://images.example/a.png'
const mixed: EmbeddingInput = ['a', { parts: [{ text: 'b' }, { image: data }, { image: address }] }]

/** The request to a model, `<provider>:<model there>`. */
function write(model: string, inputs: EmbeddingInput, fields = {}) {
  const [key = '', upstreamModel = ''] = model.split(':')
  const provider = providers.find((one) => one.key === key)
  if (!provider) throw new Error(`no ${key}`)
  const { options } = provider
  return toUpstreamEmbedding({ model: 'x', input: '', ...fields }, inputs, {
    upstreamModel,
    options,
  })
}

describe('task types of providers in the OpenAI format', () => {
  test.each([
    ['voyage:voyage-4', { input_type: 'search_query' }, { input_type: 'query', truncation: false }],
    [
      'voyage:voyage-4',
      { task: 'retrieval.passage' },
      { input_type: 'document', truncation: false },
    ],
    ['jina:jina-embeddings-v3', { input_type: 'clustering' }, { task: 'separation' }],
    ['jina:jina-embeddings-v3', { task: 'text-matching' }, { task: 'text-matching' }],
    ['jina:jina-embeddings-v4', { input_type: 'code_query' }, { task: 'code.query' }],
    ['jina:jina-embeddings-v5-text-small', { task: 'clustering' }, { task: 'clustering' }],
    ['jina:jina-clip-v2', { taskType: 'RETRIEVAL_QUERY' }, { task: 'retrieval.query' }],
    ['nvidia:nv-embedqa-e5-v5', { input_type: 'search_query' }, { input_type: 'query' }],
    ['nvidia:nv-embedqa-e5-v5', {}, { input_type: 'passage' }],
    ['openrouter:qwen/qwen3-embedding-8b', { task: 'query' }, { input_type: 'search_query' }],
    // Nothing is known of it: as it was sent.
    ['custom:any', { task: 'own.word' }, { task: 'own.word' }],
  ])('%s, %o', (model, fields, expected) => {
    const name = model.split(':').at(-1)
    expect(write(model, ['a'], fields)).toEqual({ model: name, input: ['a'], ...expected })
  })

  test.each([
    ['mistral:mistral-embed', 'search_query'],
    ['jina:jina-embeddings-v4', 'clustering'],
    ['voyage:voyage-4', 'classification'],
  ])('%s has no %s, and reports that', (model, input_type) => {
    expect(() => write(model, ['a'], { input_type })).toThrow(
      expect.objectContaining({ code: 'invalid_request', param: 'input_type' }),
    )
  })
})

test('dimensions and base64 use the field names of each provider', () => {
  const fields = { dimensions: 256, encoding_format: 'base64' }
  expect(write('voyage:voyage-4', ['a'], fields)).toMatchObject({
    output_dimension: 256,
    encoding_format: 'base64',
  })
  expect(write('mistral:codestral-embed', ['a'], fields)).toEqual({
    model: 'codestral-embed',
    input: ['a'],
    output_dimension: 256,
  })
  expect(write('jina:jina-embeddings-v4', ['a'], fields)).toEqual({
    model: 'jina-embeddings-v4',
    input: ['a'],
    dimensions: 256,
  })
})

describe('images', () => {
  test('for Voyage: its multimodal models accept parts, texts too', () => {
    expect(write('voyage:voyage-multimodal-3.5', mixed)).toEqual({
      model: 'voyage-multimodal-3.5',
      inputs: [
        { content: [{ type: 'text', text: 'a' }] },
        {
          content: [
            { type: 'text', text: 'b' },
            { type: 'image_base64', image_base64: data },
            { type: 'image_url', image_url: address },
          ],
        },
      ],
      truncation: false,
    })
  })

  test('for Jina: one text or one image, data without its head', () => {
    const inputs = ['a', { parts: [{ image: data }] }, { parts: [{ image: address }] }]
    expect(write('jina:jina-clip-v2', inputs)['input']).toEqual([
      { text: 'a' },
      { image: 'AAAA' },
      { image: address },
    ])
  })

  test('for OpenRouter: as its callers send them; texts alone stay texts', () => {
    expect(write('openrouter:a/b', mixed)['input']).toEqual([
      { content: [{ type: 'text', text: 'a' }] },
      {
        content: [
          { type: 'text', text: 'b' },
          { type: 'image_url', image_url: { url: data } },
          { type: 'image_url', image_url: { url: address } },
        ],
      },
    ])
    expect(write('openrouter:a/b', ['a'])['input']).toEqual(['a'])
  })

  test('are fetched for a provider that does not fetch, and if Voyage would receive both kinds', () => {
    const inputs = mixed.filter((item) => !Array.isArray(item))
    const byAddress = [{ parts: [{ image: address }, { image: address }] }]
    expect(findAddressesToFetch(byAddress, 'gateway')).toEqual([address])
    expect(findAddressesToFetch(inputs, 'voyage')).toEqual([address])
    for (const format of ['voyage', 'jina', 'parts'] as const) {
      expect(findAddressesToFetch(byAddress, format)).toEqual([])
    }
  })
})

test('finding Q17: Voyage is set to truncate no text, unless the caller requests it', () => {
  for (const model of ['voyage:voyage-4', 'voyage:voyage-multimodal-3.5']) {
    expect(write(model, ['a'], {})).toMatchObject({ truncation: false })
    expect(write(model, ['a'], { truncation: true })).toMatchObject({ truncation: true })
  }
})
