import type { Adapter } from './adapter'
import { anthropic } from './anthropic'
import { bedrock } from './bedrock'
import { bflImages } from './bfl/images'
import { bedrockEmbeddings } from './bedrock/embeddings'
import { cohere } from './cohere'
import { cohereEmbeddings } from './cohere/embeddings'
import { bedrockImages } from './bedrock/images'
import type { EmbeddingAdapter } from './embedding-adapter'
import { fireworksImages } from './fireworks/images'
import { google } from './google'
import { googleEmbeddings } from './google/embeddings'
import { googleImages } from './google/images'
import type { ImageAdapter } from './image-adapter'
import type { Provider } from './provider'
import { stabilityImages } from './stability/images'
import { vertexEmbeddings } from './vertex/embeddings'
import { vertexImages } from './vertex/images'

/** The dialects that are translated; the others are relayed, or answered in the process. */
const adapters: Partial<Record<Provider['dialect'], Adapter>> = {
  anthropic,
  google,
  bedrock,
  cohere,
}

/** Returns the adapter of a provider; undefined where its dialect is not translated. */
export const adapterOf = ({ dialect }: Pick<Provider, 'dialect'>): Adapter | undefined =>
  adapters[dialect]

const embeddingAdapters: Partial<Record<Provider['dialect'], EmbeddingAdapter>> = {
  google: googleEmbeddings,
  vertex: vertexEmbeddings,
  bedrock: bedrockEmbeddings,
  cohere: cohereEmbeddings,
}

/** Returns the embedding adapter of a provider; undefined where its dialect is not translated. */
export const embeddingAdapterOf = ({
  dialect,
}: Pick<Provider, 'dialect'>): EmbeddingAdapter | undefined => embeddingAdapters[dialect]

const imageAdapters: Partial<Record<Provider['dialect'], ImageAdapter>> = {
  google: googleImages,
  vertex: vertexImages,
  bedrock: bedrockImages,
}

/** The forms of requests for images that are not OpenAI's. */
const imageForms: Partial<Record<Provider['options']['images']['form'], ImageAdapter>> = {
  bfl: bflImages,
  stability: stabilityImages,
  fireworks: fireworksImages,
}

/** Returns the image adapter of a provider; undefined where its requests for images are OpenAI's. */
export const imageAdapterOf = ({
  dialect,
  options,
}: Pick<Provider, 'dialect' | 'options'>): ImageAdapter | undefined =>
  imageAdapters[dialect] ?? imageForms[options.images.form]
