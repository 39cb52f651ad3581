import { z } from 'zod'
import { toError } from './failure'
import { modelBehind, pathOf } from './address'
import { unsupported } from '../unsupported'
import type { EmbeddingAdapter, EmbeddingTarget } from '../embedding-adapter'
import { nonsense } from '../upstream-error'
import type { JsonObject } from '../../wire/json-body'
import { toInputUsage } from '../input-usage'

const isCohere = (upstreamModel: string) => modelBehind(upstreamModel).startsWith('cohere.')

/**
 * Embeddings by `InvokeModel`, whose body is each vendor's own: Titan and Nova take one text, Cohere
 * many.
 */
export const bedrockEmbeddings = {
  batchLimit: (upstreamModel) => (isCohere(upstreamModel) ? 96 : 1),
  request: (texts, target) => ({
    path: pathOf(target.upstreamModel, 'invoke'),
    body: bodyOf(texts, target),
  }),
  failure: toError,
  read: ({ body, headers }, source) => {
    const answer = Answer.safeParse(body)
    if (!answer.success) throw nonsense(source.provider, 'no embeddings', answer.error)
    const { embedding, embeddings, inputTextTokenCount, inputTokenCount } = answer.data
    const counted = Number(headers.get('x-amzn-bedrock-input-token-count') ?? Number.NaN)
    return {
      embeddings: embedding ? [embedding] : vectorsOf(embeddings),
      usage: toInputUsage(inputTextTokenCount ?? inputTokenCount ?? counted),
    }
  },
} satisfies EmbeddingAdapter

const vector = z.array(z.number())

/** Titan has one `embedding`, Nova objects, Cohere vectors, or vectors by type. */
const Answer = z
  .looseObject({
    embedding: vector.optional(),
    embeddings: z
      .union([
        z.array(vector),
        z.array(z.looseObject({ embedding: vector })),
        z.looseObject({ float: z.array(vector) }),
      ])
      .optional(),
    inputTextTokenCount: z.unknown().optional(),
    inputTokenCount: z.unknown().optional(),
  })
  .refine(({ embedding, embeddings }) => embedding ?? embeddings)

function vectorsOf(embeddings: z.infer<typeof Answer>['embeddings']): number[][] {
  const listed = embeddings && 'float' in embeddings ? embeddings.float : embeddings
  return (listed ?? []).map((item) => (Array.isArray(item) ? item : item.embedding))
}

function bodyOf(texts: readonly string[], target: EmbeddingTarget): JsonObject {
  const model = modelBehind(target.upstreamModel)
  const { dimensions, inputType } = target
  if (model.startsWith('cohere.')) {
    const isFixed = !/embed-v4/.test(model)
    if (isFixed) refuseDimensions(target)
    return {
      texts,
      input_type: inputType ?? 'search_document',
      // A text that is cut in silence would be found by half of what it says.
      truncate: 'NONE',
      embedding_types: ['float'],
      ...(dimensions !== undefined && { output_dimension: dimensions }),
    }
  }
  const [text = ''] = texts
  if (model.includes('nova')) {
    return {
      taskType: 'SINGLE_EMBEDDING',
      singleEmbeddingParams: {
        embeddingPurpose: inputType ?? 'GENERIC_INDEX',
        ...(dimensions !== undefined && { embeddingDimension: dimensions }),
        text: { truncationMode: 'NONE', value: text },
      },
    }
  }
  if (model.includes('titan-embed-text-v1') || model.includes('titan-embed-g1')) {
    refuseDimensions(target)
  }
  return { inputText: text, ...(dimensions !== undefined && { dimensions, normalize: true }) }
}

function refuseDimensions({ dimensions }: EmbeddingTarget): void {
  if (dimensions === undefined) return
  throw unsupported('dimensions', 'dimensions: the vectors of this model have one length.')
}
