import { z } from 'zod'
import { toError } from './failure'
import { toBaseModel, pathOf } from './address'
import { cohereBatchLimit, cohereTakes, toEmbedBody } from '../cohere/embed-body'
import { unsupported } from '../unsupported-fields'
import type { EmbeddingAdapter, EmbeddingTarget } from '../embedding-adapter'
import { splitTextAndImage, type InputKinds } from '../embedding-inputs'
import { refuseTask, toTaskName, type TaskNames } from '../task-type'
import { invalidAnswer } from '../upstream-error'
import type { EmbeddingItem } from '../../wire/embedding-request'
import type { JsonObject } from '../../wire/json-body'
import { toInputUsage } from '../input-usage'

/**
 * Embeddings by `InvokeModel`, whose body is each vendor's own: Titan and Nova take one input, Cohere
 * many.
 */
export const bedrockEmbeddings = {
  batchLimit: (upstreamModel, hasImages) => {
    const model = toBaseModel(upstreamModel)
    return isCohere(model) ? cohereBatchLimit(model, hasImages) : 1
  },
  takes: (upstreamModel) => kindsOf(toBaseModel(upstreamModel)),
  request: (inputs, target) => ({
    path: pathOf(target.upstreamModel, 'invoke'),
    body: bodyOf(inputs, target),
  }),
  toError,
  read: ({ body, headers }, source) => {
    const answer = Answer.safeParse(body)
    if (!answer.success) throw invalidAnswer(source.provider, 'no embeddings', answer.error)
    const { embedding, embeddings, inputTextTokenCount, inputTokenCount } = answer.data
    const counted = Number(headers.get('x-amzn-bedrock-input-token-count') ?? Number.NaN)
    return {
      embeddings: embedding ? [embedding] : vectorsOf(embeddings),
      usage: toInputUsage(inputTextTokenCount ?? inputTokenCount ?? counted),
    }
  },
} satisfies EmbeddingAdapter

const isCohere = (model: string) => model.startsWith('cohere.')
const isNova = (model: string) => model.includes('nova')
const isTitanOfImages = (model: string) => model.includes('titan-embed-image')

function kindsOf(model: string): InputKinds {
  if (isCohere(model)) return cohereTakes(model)
  if (isNova(model)) return 'one'
  // For an input of both a text and an image the vector is the mean of theirs.
  return isTitanOfImages(model) ? 'pair' : 'text'
}

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

function bodyOf(inputs: readonly EmbeddingItem[], target: EmbeddingTarget): JsonObject {
  const model = toBaseModel(target.upstreamModel)
  if (isCohere(model)) {
    const { dimensions, task } = target
    return toEmbedBody(inputs, { model, dimensions, task, toImageUrl: (url) => url })
  }
  const [input = ''] = inputs
  return isNova(model) ? novaBody(input, target) : toTitanBody(input, { ...target, model })
}

const novaPurposes: TaskNames = {
  search_query: 'GENERIC_RETRIEVAL',
  search_document: 'GENERIC_INDEX',
  classification: 'CLASSIFICATION',
  clustering: 'CLUSTERING',
}

const novaFormats = new Set(['png', 'jpeg', 'gif', 'webp'])

/** @see https://docs.aws.amazon.com/nova/latest/userguide/embeddings-schema.html */
function novaBody(input: EmbeddingItem, { dimensions, task }: EmbeddingTarget): JsonObject {
  const { text = '', image } = splitTextAndImage(input)
  const shared = {
    embeddingPurpose: task ? toTaskName(task, novaPurposes) : 'GENERIC_INDEX',
    ...(dimensions !== undefined && { embeddingDimension: dimensions }),
  }
  const content = image
    ? { image: { format: novaFormat(image.mimeType), source: { bytes: image.base64 } } }
    : { text: { truncationMode: 'NONE', value: text } }
  return { taskType: 'SINGLE_EMBEDDING', singleEmbeddingParams: { ...shared, ...content } }
}

function novaFormat(mimeType: string): string {
  const format = mimeType.replace('image/', '').replace(/^jpg$/, 'jpeg')
  if (novaFormats.has(format)) return format
  throw unsupported(
    'input',
    `input: this model accepts PNG, JPEG, GIF and WebP images, not ${mimeType}.`,
  )
}

interface TitanTarget extends EmbeddingTarget {
  model: string
}

/** @see https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-titan-embed.html */
function toTitanBody(input: EmbeddingItem, { model, dimensions, task }: TitanTarget): JsonObject {
  if (task) throw refuseTask(task)
  const { text, image } = splitTextAndImage(input)
  if (isTitanOfImages(model)) {
    return {
      ...(text !== undefined && { inputText: text }),
      ...(image && { inputImage: image.base64 }),
      ...(dimensions !== undefined && { embeddingConfig: { outputEmbeddingLength: dimensions } }),
    }
  }
  if (dimensions === undefined) return { inputText: text }
  if (model.includes('titan-embed-text-v1') || model.includes('titan-embed-g1')) {
    throw unsupported('dimensions', 'dimensions: this model has a fixed number of dimensions.')
  }
  return { inputText: text, dimensions, normalize: true }
}
