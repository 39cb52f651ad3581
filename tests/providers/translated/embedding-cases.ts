import type { Json } from '../conformance/fixture'
import type { ProviderRequest } from './front'

export const data = 'data:image/png;base64,AAAA'
export const image = { type: 'image_url', image_url: { url: data } }
export const text = { type: 'text', text: 'text 1' }
export const vector = [0.5, -0.25]
export const base64 = Buffer.from(Float32Array.from(vector).buffer).toString('base64')
export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])

const toEmbedding = (embedding: unknown) => (_: unknown, index: number) => ({
  object: 'embedding',
  index,
  embedding,
})

/** OpenAI's shape, with the same vector for each of the inputs, and the usage of the provider. */
export const listFor =
  (usage: Json, embedding: unknown = vector) =>
  ({ body }: ProviderRequest) => {
    const data = listOf(body['input'] ?? body['inputs']).map(toEmbedding(embedding))
    return Response.json({ object: 'list', data, model: 'x', usage })
  }

interface Case {
  model: string
  /** Of the catalogue's editor: 1 USD a million tokens. */
  pricing?: Json
  fields?: Json
  input: unknown
  answer: (seen: ProviderRequest) => Response
  path: string
  sent: Json
  tokens: number
  /** Nano-dollars. */
  cost: bigint
}

export const perToken = { input: 1, output: 0 }
/** Tokens of images at twice the price of text. */
const perImageToken = { ...perToken, image_input: 2 }
const perImage = { ...perToken, image: 0.000_06 }

/** Each as its provider documents it: requests, answers and what they count. */
export const embeddingCases: Case[] = [
  {
    model: 'voyage/voyage-4',
    input: ['text 1', 'text 2'],
    fields: { input_type: 'search_query', dimensions: 2, encoding_format: 'base64' },
    answer: listFor({ total_tokens: 7 }, base64),
    path: '/v1/embeddings',
    sent: {
      model: 'voyage-4',
      input: ['text 1', 'text 2'],
      input_type: 'query',
      output_dimension: 2,
      encoding_format: 'base64',
      truncation: false,
    },
    tokens: 7,
    cost: 7000n,
  },
  {
    model: 'voyage/voyage-multimodal-3.5',
    pricing: perImageToken,
    input: [{ content: [text, image] }],
    fields: { task_type: 'RETRIEVAL_DOCUMENT' },
    answer: listFor({ text_tokens: 3, image_pixels: 2_000_000, total_tokens: 3575 }),
    path: '/v1/multimodalembeddings',
    sent: {
      model: 'voyage-multimodal-3.5',
      inputs: [{ content: [text, { type: 'image_base64', image_base64: data }] }],
      input_type: 'document',
      truncation: false,
    },
    tokens: 3575,
    cost: 7_147_000n,
  },
  {
    model: 'jina/jina-embeddings-v4',
    input: ['text 1', { content: [image] }],
    fields: { input_type: 'query', encoding_format: 'base64' },
    answer: listFor({ total_tokens: 12, prompt_tokens: 12 }),
    path: '/v1/embeddings',
    sent: {
      model: 'jina-embeddings-v4',
      input: [{ text: 'text 1' }, { image: 'AAAA' }],
      task: 'retrieval.query',
    },
    tokens: 12,
    cost: 12_000n,
  },
  {
    model: 'mistral/mistral-embed',
    input: ['text 1'],
    fields: { encoding_format: 'base64' },
    answer: listFor({ prompt_tokens: 4, total_tokens: 4, completion_tokens: 0 }),
    path: '/v1/embeddings',
    sent: { model: 'mistral-embed', input: ['text 1'] },
    tokens: 4,
    cost: 4000n,
  },
  {
    model: 'cohere/embed-v4.0',
    pricing: perImageToken,
    input: [{ content: [text, image] }],
    fields: { input_type: 'clustering', dimensions: 2, encoding_format: 'base64' },
    answer: () =>
      Response.json({
        id: 'x',
        embeddings: { float: [vector] },
        meta: { api_version: { version: '2' }, billed_units: { input_tokens: 2, image_tokens: 9 } },
        response_type: 'embeddings_by_type',
      }),
    path: '/v2/embed',
    sent: {
      model: 'embed-v4.0',
      inputs: [{ content: [text, image] }],
      input_type: 'clustering',
      truncate: 'NONE',
      embedding_types: ['float'],
      output_dimension: 2,
    },
    tokens: 11,
    cost: 20_000n,
  },
  {
    model: 'google/gemini-embedding-2',
    pricing: perImageToken,
    input: [{ content: [text, image] }],
    fields: { task: 'retrieval.query', encoding_format: 'base64' },
    answer: () =>
      Response.json({
        embeddings: [{ values: vector }],
        usageMetadata: {
          promptTokenCount: 262,
          promptTokensDetails: [
            { modality: 'TEXT', tokenCount: 4 },
            { modality: 'IMAGE', tokenCount: 258 },
          ],
        },
      }),
    path: '/v1beta/models/gemini-embedding-2:batchEmbedContents',
    sent: {
      requests: [
        {
          model: 'models/gemini-embedding-2',
          content: {
            parts: [
              { text: 'task: search result | query: text 1' },
              { inlineData: { mimeType: 'image/png', data: 'AAAA' } },
            ],
          },
        },
      ],
    },
    tokens: 262,
    cost: 520_000n,
  },
  {
    model: 'vertex/gemini-embedding-001',
    input: ['text 1'],
    fields: { input_type: 'question_answering', encoding_format: 'base64' },
    answer: () =>
      Response.json({
        predictions: [
          { embeddings: { values: vector, statistics: { token_count: 3, truncated: false } } },
        ],
      }),
    path: '/vertex/publishers/google/models/gemini-embedding-001:predict',
    sent: {
      instances: [{ content: 'text 1', task_type: 'QUESTION_ANSWERING' }],
      parameters: { autoTruncate: false },
    },
    tokens: 3,
    cost: 3000n,
  },
  {
    // Paid by the image: nothing of it is a token.
    model: 'vertex/multimodalembedding@001',
    pricing: perImage,
    input: [{ image: data }],
    fields: { dimensions: 2, encoding_format: 'base64' },
    answer: () => Response.json({ predictions: [{ imageEmbedding: vector }] }),
    path: '/vertex/publishers/google/models/multimodalembedding@001:predict',
    sent: {
      instances: [{ image: { bytesBase64Encoded: 'AAAA', mimeType: 'image/png' } }],
      parameters: { dimension: 2 },
    },
    tokens: 0,
    cost: 60_000n,
  },
  {
    model: 'bedrock/amazon.titan-embed-text-v1',
    input: ['text 1'],
    fields: { encoding_format: 'base64' },
    answer: () => Response.json({ embedding: vector, inputTextTokenCount: 5 }),
    path: '/model/amazon.titan-embed-text-v1/invoke',
    sent: { inputText: 'text 1' },
    tokens: 5,
    cost: 5000n,
  },
  {
    model: 'bedrock/amazon.titan-embed-image-v1',
    pricing: perImage,
    input: [{ content: [text, image] }],
    fields: { dimensions: 2 },
    answer: () => Response.json({ embedding: vector, inputTextTokenCount: 4, message: null }),
    path: '/model/amazon.titan-embed-image-v1/invoke',
    sent: {
      inputText: 'text 1',
      inputImage: 'AAAA',
      embeddingConfig: { outputEmbeddingLength: 2 },
    },
    tokens: 4,
    cost: 64_000n,
  },
  {
    model: 'bedrock/amazon.nova-2-multimodal-embeddings-v1:0',
    pricing: perImage,
    input: [{ content: [image] }],
    fields: { input_type: 'IMAGE_RETRIEVAL', dimensions: 2, encoding_format: 'base64' },
    answer: () =>
      Response.json(
        { embeddings: [{ embeddingType: 'IMAGE', embedding: vector }] },
        { headers: { 'x-amzn-bedrock-input-token-count': '0' } },
      ),
    path: '/model/amazon.nova-2-multimodal-embeddings-v1%3A0/invoke',
    sent: {
      taskType: 'SINGLE_EMBEDDING',
      singleEmbeddingParams: {
        embeddingPurpose: 'IMAGE_RETRIEVAL',
        embeddingDimension: 2,
        image: { format: 'png', source: { bytes: 'AAAA' } },
      },
    },
    tokens: 0,
    cost: 60_000n,
  },
  {
    model: 'bedrock/cohere.embed-v4:0',
    input: [{ content: [image] }],
    fields: { encoding_format: 'base64' },
    answer: () =>
      Response.json(
        { id: 'x', embeddings: { float: [vector] }, response_type: 'embeddings_by_type' },
        { headers: { 'x-amzn-bedrock-input-token-count': '21' } },
      ),
    path: '/model/cohere.embed-v4%3A0/invoke',
    sent: {
      inputs: [{ content: [{ type: 'image_url', image_url: data }] }],
      input_type: 'search_document',
      truncate: 'NONE',
      embedding_types: ['float'],
    },
    tokens: 21,
    cost: 21_000n,
  },
]
