import { z } from 'zod'
import { toGoogleError } from '../google/failure'
import { getSurface } from './address'
import { toModelPath } from '../google/model-name'
import { readGoogleInputUsage } from '../google/usage'
import { readUsage, type Usage } from '../../wire/usage'
import { invalidAnswer } from '../upstream-error'
import { isMultimodal, toParts, toTaskType } from '../google/embedding-task'
import type { EmbeddingAdapter, EmbeddingTarget } from '../embedding-adapter'
import { splitTextAndImage } from '../embedding-inputs'
import { refuseTask } from '../task-type'
import type { EmbeddingItem } from '../../wire/embedding-request'
import type { JsonObject } from '../../wire/json-body'

const Values = z.looseObject({ values: z.array(z.number()).min(1) })
const Content = z.looseObject({ embedding: Values, usageMetadata: z.unknown().optional() })
const Predictions = z.looseObject({
  predictions: z
    .array(
      z.looseObject({
        embeddings: Values.extend({
          statistics: z.looseObject({ token_count: z.number().nullish() }).nullish(),
        }),
      }),
    )
    .min(1),
})

/** One vector for the content of an instance, which is a text or an image here. */
const Multimodal = z.looseObject({
  predictions: z
    .array(
      z.looseObject({
        textEmbedding: z.array(z.number()).min(1).optional(),
        imageEmbedding: z.array(z.number()).min(1).optional(),
      }),
    )
    .min(1)
    .refine((all) =>
      all.every(({ textEmbedding, imageEmbedding }) => textEmbedding ?? imageEmbedding),
    ),
})

const isOfInstances = (model: string) => model.startsWith('multimodalembedding')

/**
 * Texts that are too long are refused, not cut: callers get an error, never a vector of half a text.
 * @see https://docs.cloud.google.com/vertex-ai/generative-ai/docs/model-reference/text-embeddings-api
 * @see https://docs.cloud.google.com/vertex-ai/generative-ai/docs/model-reference/multimodal-embeddings-api
 */
export const vertexEmbeddings: EmbeddingAdapter = {
  // The older models take five texts in most regions.
  batchLimit(upstreamModel) {
    const { model } = getSurface(upstreamModel)
    return model.startsWith('gemini-') || isOfInstances(model) ? 1 : 5
  },

  takes(upstreamModel) {
    const { model } = getSurface(upstreamModel)
    if (isMultimodal(model)) return 'mixed'
    return isOfInstances(model) ? 'one' : 'text'
  },

  request(inputs, { upstreamModel, ...options }) {
    const { model } = getSurface(upstreamModel)
    const path = `/publishers/google/models/${toModelPath(model)}`
    if (isMultimodal(model))
      return { path: `${path}:embedContent`, body: ofContent(inputs, options) }
    const body = isOfInstances(model)
      ? toMultimodalInstances(inputs, options)
      : toTextInstances(inputs, options)
    return { path: `${path}:predict`, body }
  },

  toError: toGoogleError,

  read({ body }, source) {
    const content = Content.safeParse(body)
    if (content.success) {
      const { embedding, usageMetadata } = content.data
      return { embeddings: [embedding.values], usage: readGoogleInputUsage(usageMetadata) }
    }
    const parsed = Multimodal.safeParse(body)
    if (parsed.success) {
      const { predictions } = parsed.data
      const vectors = predictions.map((one) => one.textEmbedding ?? one.imageEmbedding ?? [])
      // Paid by the character and by the image; no token is counted.
      return { embeddings: vectors, usage: undefined }
    }
    const answer = Predictions.safeParse(body)
    if (!answer.success) {
      throw invalidAnswer(source.provider, 'a response without embeddings', answer.error)
    }
    const all = answer.data.predictions.map(({ embeddings }) => embeddings)
    return {
      embeddings: all.map(({ values }) => values),
      usage: counted(all.map(({ statistics }) => statistics?.token_count)),
    }
  },
}

type EmbeddingOptions = Omit<EmbeddingTarget, 'upstreamModel'>

/** One content, all parts of which have one vector together. */
const ofContent = (
  inputs: readonly EmbeddingItem[],
  { dimensions, task }: EmbeddingOptions,
): JsonObject => ({
  content: { parts: inputs.flatMap((item) => toParts(item, task)) },
  embedContentConfig: { ...sizeOf(dimensions), autoTruncate: false },
})

function toTextInstances(
  inputs: readonly EmbeddingItem[],
  { dimensions, task }: EmbeddingOptions,
): JsonObject {
  const purpose = task ? { task_type: toTaskType(task) } : {}
  return {
    instances: inputs.map((content) => ({ content, ...purpose })),
    parameters: { ...sizeOf(dimensions), autoTruncate: false },
  }
}

function toMultimodalInstances(
  inputs: readonly EmbeddingItem[],
  { dimensions, task }: EmbeddingOptions,
): JsonObject {
  if (task) throw refuseTask(task)
  const instances = inputs.map((item) => {
    const { text, image } = splitTextAndImage(item)
    if (!image) return { text }
    return { image: { bytesBase64Encoded: image.base64, mimeType: image.mimeType } }
  })
  return { instances, ...(dimensions && { parameters: { dimension: dimensions } }) }
}

const sizeOf = (dimensions: number | undefined) =>
  dimensions ? { outputDimensionality: dimensions } : {}

/** The tokens of all texts; undefined where one of them was not counted. */
function counted(counts: readonly (number | null | undefined)[]): Usage | undefined {
  let total = 0
  for (const count of counts) {
    if (typeof count !== 'number') return undefined
    total += count
  }
  return readUsage({ total_tokens: total }, 'inside')
}
