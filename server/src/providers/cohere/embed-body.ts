import type { EmbeddingTarget } from '../embedding-adapter'
import type { InputKinds } from '../embedding-inputs'
import { toTaskName, type TaskNames } from '../task-type'
import { unsupported } from '../unsupported-fields'
import {
  hasImage,
  isImage,
  partsOf,
  type EmbeddingItem,
  type EmbeddingPart,
} from '../../wire/embedding-request'
import type { JsonObject } from '../../wire/json-body'

const taskNames: TaskNames = {
  search_query: 'search_query',
  search_document: 'search_document',
  classification: 'classification',
  clustering: 'clustering',
}

/** The third generation takes one image alone, the ones before it none. */
export const cohereTakes = (model: string): InputKinds => {
  if (/-v2/.test(model)) return 'text'
  return /-v3/.test(model) ? 'one' : 'mixed'
}

/** 96 inputs, but one where the third generation is shown an image: its requests have one kind only. */
export const cohereBatchLimit = (model: string, hasImages: boolean): number =>
  hasImages && cohereTakes(model) === 'one' ? 1 : 96

interface Writing extends Omit<EmbeddingTarget, 'upstreamModel'> {
  model: string
  /** The form of an image in a part. */
  toImageUrl: (dataUrl: string) => unknown
}

/** The body of an embed request but for the model's name: the same at Cohere and at Bedrock. */
export function toEmbedBody(
  inputs: readonly EmbeddingItem[],
  { model, dimensions, task, toImageUrl }: Writing,
): JsonObject {
  const kinds = cohereTakes(model)
  if (dimensions !== undefined && kinds !== 'mixed') {
    throw unsupported('dimensions', 'dimensions: this model has a fixed number of dimensions.')
  }
  const size = dimensions === undefined ? {} : { output_dimension: dimensions }
  const common = { embedding_types: ['float'], ...size }
  const inputType = task ? toTaskName(task, taskNames) : 'search_document'
  // A text that is cut in silence would be found by half of its content.
  const whole = { input_type: inputType, truncate: 'NONE' }
  if (!inputs.some(hasImage)) return { texts: inputs, ...whole, ...common }
  if (kinds === 'one') {
    const images = inputs.flatMap(partsOf).flatMap((part) => (isImage(part) ? [part.image] : []))
    return { images, input_type: 'image', ...common }
  }
  const toPart = (part: EmbeddingPart) =>
    isImage(part)
      ? { type: 'image_url', image_url: toImageUrl(part.image) }
      : { type: 'text', text: part.text }
  const mixed = inputs.map((item) => ({ content: partsOf(item).map(toPart) }))
  return { inputs: mixed, ...whole, ...common }
}
