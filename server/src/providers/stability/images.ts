import { z } from 'zod'
import { toAspectRatio } from '../aspect-ratio'
import type { ImageAdapter, ImageTarget, ImageWish } from '../image-adapter'
import { findOmittedFields } from '../omitted-image-fields'
import { toImageFile } from '../openai/image-form'
import { unsupported } from '../unsupported-fields'
import { invalidAnswer, toCallerError } from '../upstream-error'
import { invalidRequest } from '../../errors'
import { isObject, type JsonObject } from '../../wire/json-body'
import { toFormContent } from '../../wire/outgoing-content'
import { toFormFields } from '../../wire/transcription-request'

/** https://platform.stability.ai/docs/api-reference#tag/Generate */
export const stabilityRatios = ['1:1', '2:3', '3:2', '4:5', '5:4', '9:16', '16:9', '9:21', '21:9']

/** Models with a path of their own; all others are those of Stable Diffusion. */
const ownPaths: Readonly<Record<string, string>> = {
  'stable-image-core': 'core',
  'stable-image-ultra': 'ultra',
}

const isDiffusion = (model: string) => ownPaths[model] === undefined

/** The most characters of a prompt. */
const maxPrompt = 10_000

/** The part of an image that is drawn anew, from none of it to all, by the requested fidelity. */
const strengths = { high: 0.4, low: 0.7 } as const

const Answer = z.looseObject({
  image: z.string().min(1).nullish(),
  finish_reason: z.string().nullish(),
})

/**
 * Images of Stability's own API, one a request, which is a form.
 * @see https://platform.stability.ai/docs/api-reference#tag/Generate
 */
export const stabilityImages: ImageAdapter = {
  batchLimit: () => 1,
  edits: (upstreamModel) => upstreamModel !== 'stable-image-core',
  request(wish, target) {
    const { upstreamModel, inputs } = target
    const [input] = inputs
    const files = input ? [['image', toImageFile(input, 'image')] as const] : []
    return {
      path: `/v2beta/stable-image/generate/${ownPaths[upstreamModel] ?? 'sd3'}`,
      headers: { accept: 'application/json' },
      body: toBody(wish, target),
      toContent: (body) => toFormContent([...toFormFields(body), ...files]),
      // An image that is changed keeps its size.
      omitted: findOmittedFields(wish, input ? ['input_fidelity'] : ['size']),
    }
  },
  toError(failure, source) {
    const { body } = failure
    if (!isObject(body) || body['name'] !== 'content_moderation')
      return toCallerError(failure, source)
    return invalidRequest('prompt', 'content_filter', `${source.provider} filtered the request.`)
  },
  read(answer, { provider }) {
    const parsed = Answer.safeParse(answer)
    if (!parsed.success) throw invalidAnswer(provider, 'no image', parsed.error)
    const { image, finish_reason: reason } = parsed.data
    // It comes with a blurred image.
    if (reason === 'CONTENT_FILTERED') {
      throw invalidRequest('prompt', 'content_filter', `${provider} filtered the image.`)
    }
    if (!image) throw invalidAnswer(provider, 'a response without an image')
    return { images: [{ b64_json: image }], usage: undefined }
  },
}

function toBody(wish: ImageWish, { upstreamModel, inputs }: ImageTarget): JsonObject {
  const { prompt, size, output_format: format, input_fidelity: fidelity } = wish
  if (prompt.length > maxPrompt) {
    throw unsupported('prompt', `prompt: this model reads up to ${maxPrompt} characters.`)
  }
  if (format === 'webp' && isDiffusion(upstreamModel)) {
    throw unsupported('output_format', 'output_format: this model makes PNG and JPEG images.')
  }
  if (inputs.length > 1) throw unsupported('images', 'images: this model changes one image.')
  const ratio = inputs.length > 0 ? undefined : toAspectRatio(size, stabilityRatios)
  return {
    prompt,
    ...(isDiffusion(upstreamModel) && {
      model: upstreamModel,
      mode: inputs.length > 0 ? 'image-to-image' : 'text-to-image',
    }),
    ...(inputs.length > 0 && { strength: strengths[fidelity ?? 'low'] }),
    ...(ratio !== undefined && { aspect_ratio: ratio }),
    ...(format && { output_format: format }),
  }
}
