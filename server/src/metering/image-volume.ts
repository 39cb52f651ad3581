import { estimateTexts, estimateUsage } from './estimate'
import { boundInputs } from './volume'
import type { TokenBounds } from './worst-case'
import { boundMediaTokens, noMedia } from '../catalog/media-tokens'
import type { Model } from '../catalog/model'
import { parseImageSize } from '../wire/image-request'
import type { Usage } from '../wire/usage'

/** The parts of a request for images that its price depends on. */
export interface ImageOrder {
  prompt: string
  /** The number of images to make. */
  count: number
  /** As in the request; undefined and `auto` leave it to the model. */
  quality: string | undefined
  size: string | undefined
  /** Unfinished images that a stream shows of each. */
  partialImages: number
  /** Images in the prompt. */
  inputImages: number
}

type ImageModel = Pick<Model, 'upstreamModel' | 'contextLength' | 'maxOutputTokens'>

/** Instructions that providers put around a prompt. */
const templateTokens = 1024

/** The pixels of an image whose size is left to the model: at maxTokens, and where nothing tells them. */
const maxPixelsOfAuto = 2048 * 2048
const usualPixels = 1024 * 1024

/** The pixels up to which the tokens below are those of an image. */
const pixelsPerTokens = 1536 * 1024

/**
 * Tokens of an image, at most and usually. Those of OpenAI's first models are up to 408, 1,584 and 6,240 by quality,
 * Gemini's up to 2,000 beside what the model thinks.
 * https://platform.openai.com/docs/guides/image-generation https://ai.google.dev/gemini-api/docs/pricing
 */
const tokensByQuality: Readonly<Record<string, { maxTokens: number; usualTokens: number }>> = {
  low: { maxTokens: 512, usualTokens: 272 },
  medium: { maxTokens: 2048, usualTokens: 1056 },
  xhigh: { maxTokens: 16_384, usualTokens: 8192 },
  max: { maxTokens: 32_768, usualTokens: 16_384 },
}
const tokensOfAny = { maxTokens: 8192, usualTokens: 4160 }

/** Models that know the highest qualities, and may choose them. */
const knowsMax = /^gpt-image-(?:2\.[5-9]|[3-9])/

const tokensFor = (quality: string | undefined, { upstreamModel }: Pick<Model, 'upstreamModel'>) =>
  tokensByQuality[quality ?? (knowsMax.test(upstreamModel) ? 'max' : 'auto')] ?? tokensOfAny

/** Each unfinished image has so many. https://platform.openai.com/docs/guides/image-generation */
const tokensPerPartialImage = 100

const withoutAuto = (value: string | undefined) => (value === 'auto' ? undefined : value)

/** Returns the pixels of an image of a requested size; undefined where that is left to the model. */
export function pixelsOf(size: string | undefined): number | undefined {
  const parsed = size === undefined ? undefined : parseImageSize(size)
  return parsed && parsed.width * parsed.height
}

/** Returns the most tokens that one image has, with the thoughts before it. */
export function maxTokensPerImage(
  { quality, size }: Pick<ImageOrder, 'quality' | 'size'>,
  model: Pick<Model, 'upstreamModel' | 'maxOutputTokens'>,
): number {
  const { maxTokens } = tokensFor(withoutAuto(quality), model)
  const parts = Math.ceil((pixelsOf(size) ?? pixelsPerTokens) / pixelsPerTokens)
  return Math.min(maxTokens * parts, model.maxOutputTokens ?? Infinity)
}

/** Bounds the tokens, images and pixels that a request for images can cost. */
export function boundImages(order: ImageOrder, model: ImageModel, requests: number): TokenBounds {
  const { prompt, count, inputImages, partialImages } = order
  const media = inputImages > 0 ? { ...noMedia, images: inputImages } : noMedia
  const perRequest = Buffer.byteLength(prompt) + templateTokens + boundMediaTokens(media, model)
  const inputTokens = perRequest * requests
  const perImage = maxTokensPerImage(order, model) + partialImages * tokensPerPartialImage
  return {
    ...boundInputs({ inputTokens, images: inputImages * requests, requests, searches: 0 }),
    maxPromptTokens: perRequest,
    extraOutputTokens: count * perImage,
    imageBounds: {
      images: count,
      pixels: pixelsOf(order.size) ?? maxPixelsOfAuto,
      quality: withoutAuto(order.quality),
    },
  }
}

/** Returns the pixels of an image that nothing tells. */
export const usualPixelsOf = ({ size }: Pick<ImageOrder, 'size'>): number =>
  pixelsOf(size) ?? usualPixels

/** Estimates the usage of a request by its fields, for a provider that does not count: `tokens` are those of the images. */
export function estimateImages(order: ImageOrder, { tokens }: { tokens: boolean }): Usage {
  const { prompt, count, quality } = order
  const { usualTokens } = tokensByQuality[quality ?? 'auto'] ?? tokensOfAny
  return {
    ...estimateUsage({ promptTokens: estimateTexts([prompt]) }),
    imageOutput: tokens ? count * usualTokens : 0,
    madeImages: count,
    madePixels: count * usualPixelsOf(order),
  }
}
