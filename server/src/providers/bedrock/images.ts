import { z } from 'zod'
import { pathOf, toBaseModel } from './address'
import { toError } from './failure'
import { toAspectRatio } from '../aspect-ratio'
import type { ImageAdapter, ImageTarget, ImageWish } from '../image-adapter'
import { stabilityRatios } from '../stability/images'
import { unsupported } from '../unsupported-fields'
import { invalidAnswer } from '../upstream-error'
import type { MediaData } from '../media'
import { invalidRequest } from '../../errors'
import { parseImageSize } from '../../wire/image-request'
import type { JsonObject } from '../../wire/json-body'

const isStability = (model: string) => model.startsWith('stability.')

/** The most characters of a prompt of Amazon's models. */
const maxAmazonPrompt = 1024

const Answer = z.looseObject({
  images: z.array(z.string()).nullish(),
  finish_reasons: z.array(z.string().nullable()).nullish(),
})

/** Images by `InvokeModel`, whose body is each vendor's own: Amazon's Nova Canvas and Titan, and Stability's. */
export const bedrockImages: ImageAdapter = {
  batchLimit: (upstreamModel) => (isStability(toBaseModel(upstreamModel)) ? 1 : 5),
  edits: () => false,
  varies: (upstreamModel) => !isStability(toBaseModel(upstreamModel)),
  request: (wish, target) => ({
    path: pathOf(target.upstreamModel, 'invoke'),
    body: isStability(toBaseModel(target.upstreamModel))
      ? toStabilityBody(wish)
      : toAmazonBody(wish, target),
  }),
  toError,
  read(answer, source) {
    const parsed = Answer.safeParse(answer)
    if (!parsed.success) throw invalidAnswer(source.provider, 'no image', parsed.error)
    const { images, finish_reasons: reasons } = parsed.data
    // Stability gives a reason in place of an image.
    const drawn = (images ?? []).filter((data, index) => data !== '' && !reasons?.[index])
    if (drawn.length > 0) {
      return { images: drawn.map((data) => ({ b64_json: data })), usage: undefined }
    }
    const reason = reasons?.find((text) => text)
    if (!reason) throw invalidAnswer(source.provider, 'a response without an image')
    throw invalidRequest(
      'prompt',
      'content_filter',
      `${source.provider} filtered the request: ${reason}`,
    )
  },
}

/** @see https://docs.aws.amazon.com/bedrock/latest/userguide/model-parameters-diffusion-stable-ultra-text-image-request-response.html */
function toStabilityBody({ prompt, size, output_format: format }: ImageWish): JsonObject {
  if (format === 'webp') {
    throw unsupported('output_format', 'output_format: this model makes PNG and JPEG images.')
  }
  const ratio = toAspectRatio(size, stabilityRatios)
  return {
    prompt,
    ...(ratio !== undefined && { aspect_ratio: ratio }),
    ...(format && { output_format: format }),
  }
}

/**
 * Amazon's models: an image from a text, or, without one, variations of an image.
 * @see https://docs.aws.amazon.com/nova/latest/userguide/image-gen-req-resp-structure.html
 * @see https://docs.aws.amazon.com/nova/latest/userguide/image-gen-access.html
 */
function toAmazonBody(wish: ImageWish, { count, inputs, isVariation }: ImageTarget): JsonObject {
  const { size, quality } = wish
  const sides = typeof size === 'string' ? parseImageSize(size) : undefined
  const isPremium = quality === 'high' || quality === 'hd'
  return {
    ...(isVariation ? toVariationTask(inputs) : toTextTask(wish)),
    imageGenerationConfig: {
      numberOfImages: count,
      quality: isPremium ? 'premium' : 'standard',
      ...sides,
    },
  }
}

function toTextTask({ prompt }: ImageWish): JsonObject {
  if (prompt.length > maxAmazonPrompt) {
    throw unsupported('prompt', `prompt: this model reads up to ${maxAmazonPrompt} characters.`)
  }
  return { taskType: 'TEXT_IMAGE', textToImageParams: { text: prompt } }
}

const amazonTypes: ReadonlySet<string> = new Set(['image/png', 'image/jpeg'])

function toVariationTask(inputs: readonly MediaData[]): JsonObject {
  if (!inputs.every(({ mimeType }) => amazonTypes.has(mimeType))) {
    throw unsupported('images', 'images: this model varies PNG and JPEG images.')
  }
  const images = inputs.map(({ base64 }) => base64)
  return { taskType: 'IMAGE_VARIATION', imageVariationParams: { images } }
}
