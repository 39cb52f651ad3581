import type { InputKinds } from '../embedding-inputs'
import { readDataUrl } from '../media'
import type { RelayOptions } from '../provider'
import {
  hasImage,
  isDataUrl,
  isImage,
  isTokenInput,
  partsOf,
  type EmbeddingInput,
  type EmbeddingItem,
  type EmbeddingPart,
} from '../../wire/embedding-request'
import type { JsonObject } from '../../wire/json-body'

type ImageFormat = NonNullable<RelayOptions['embeddings']['images']>['format']

/** The format of images for a model; undefined for one that reads none. */
export function getImageFormat(
  { embeddings: { images } }: RelayOptions,
  upstreamModel: string,
): ImageFormat | undefined {
  const reads = images?.models.some((beginning) => upstreamModel.startsWith(beginning))
  return reads ? images?.format : undefined
}

/** Returns the kinds that one input of a relayed request may consist of. */
export function getRelayedKinds(format: ImageFormat | undefined): InputKinds {
  if (format === undefined) return 'text'
  return format === 'jina' ? 'one' : 'mixed'
}

/** The path of requests in a format, if that is no operation of the OpenAI format. */
export const pathOfFormat = (format: ImageFormat | undefined): string | undefined =>
  format === 'voyage' ? '/multimodalembeddings' : undefined

/** The field of the inputs, in a provider's format. */
export function toInputField(inputs: EmbeddingInput, format: ImageFormat | undefined): JsonObject {
  if (format === undefined || isTokenInput(inputs)) return { input: inputs }
  if (format === 'voyage') return { inputs: inputs.map(toVoyage) }
  if (!inputs.some(hasImage)) return { input: inputs }
  return { input: inputs.map(format === 'jina' ? toJina : toParted) }
}

/** @see https://docs.voyageai.com/reference/multimodal-embeddings-api */
const toVoyage = (item: EmbeddingItem) => ({ content: partsOf(item).map(toVoyagePart) })

function toVoyagePart(part: EmbeddingPart): JsonObject {
  if (!isImage(part)) return { type: 'text', text: part.text }
  const type = isDataUrl(part.image) ? 'image_base64' : 'image_url'
  return { type, [type]: part.image }
}

/** One text or one image. @see https://api.jina.ai/docs */
function toJina(item: EmbeddingItem): JsonObject {
  const [part] = partsOf(item)
  if (!part || !isImage(part)) return { text: part?.text ?? '' }
  return { image: readDataUrl(part.image)?.base64 ?? part.image }
}

/** @see https://openrouter.ai/docs/api/api-reference/embeddings/create-embeddings */
const toParted = (item: EmbeddingItem) => ({
  content: partsOf(item).map((part) =>
    isImage(part)
      ? { type: 'image_url', image_url: { url: part.image } }
      : { type: 'text', text: part.text },
  ),
})

const addressesIn = (inputs: readonly EmbeddingItem[]): string[] =>
  inputs.flatMap(partsOf).flatMap((part) => (isImage(part) ? [part.image] : []))

/**
 * The addresses of images that are to be fetched: all for a provider that fetches none, and for Voyage
 * all where some images are data, as one request has either.
 */
export function findAddressesToFetch(
  inputs: readonly EmbeddingItem[],
  fetcher: 'gateway' | ImageFormat,
): string[] {
  if (fetcher !== 'gateway' && fetcher !== 'voyage') return []
  const images = addressesIn(inputs)
  const addresses = images.filter((image) => !isDataUrl(image))
  const isAllFetchedThere = fetcher === 'voyage' && addresses.length === images.length
  return isAllFetchedThere ? [] : [...new Set(addresses)]
}
