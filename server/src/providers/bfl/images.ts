import { z } from 'zod'
import { isTaskPending, readTaskImage } from './task-state'
import { toAspectRatio } from '../aspect-ratio'
import type { ImageAdapter, ImageTarget, ImageTask, ImageWish, TaskContext } from '../image-adapter'
import { findOmittedFields } from '../omitted-image-fields'
import { isOwnHost } from '../own-host'
import { unsupported } from '../unsupported-fields'
import { invalidAnswer, toCallerError } from '../upstream-error'
import { parseImageSize } from '../../wire/image-request'
import type { JsonObject } from '../../wire/json-body'
import { noUsage } from '../../wire/usage'

/** Models with an aspect ratio in place of two sides. */
const hasRatio = (model: string) => /kontext|ultra/.test(model)

/** All that lie between the documented bounds, 21:9 and 9:21, and have a name. */
const ratios = ['1:1', '21:9', '16:9', '3:2', '4:3', '5:4', '4:5', '3:4', '2:3', '9:16', '9:21']

/** The most images that a model changes at once; none where it changes no image. */
function maxInputsOf(model: string): number {
  if (model.startsWith('flux-2-klein')) return 4
  if (model.startsWith('flux-2')) return 8
  return model.startsWith('flux-kontext') ? 4 : 0
}

/** Models that need no prompt where they have an image: the others change one by a prompt, or take none. */
const varies = (model: string) => /^flux-pro(?:-1\.1(?:-ultra)?)?$/.test(model)

/** One credit in nano-dollars, 0.01 USD. */
const creditPrice = 10_000_000
/** The highest cost of one image that is believed, in credits. */
const maxCredits = 100_000

const Submission = z.looseObject({
  id: z.string().min(1),
  polling_url: z.string().min(1),
  cost: z.number().min(0).max(maxCredits).nullish().catch(undefined),
})

/**
 * Images of Black Forest Labs, one a request: each is a task, whose state is at the address in the first answer.
 * @see https://docs.bfl.ai/quick_start/generating_images
 */
export const bflImages: ImageAdapter = {
  batchLimit: () => 1,
  edits: (upstreamModel) => maxInputsOf(upstreamModel) > 0,
  varies,
  request: (wish, target) => ({
    path: `/${encodeURIComponent(target.upstreamModel)}`,
    headers: { accept: 'application/json' },
    body: toBody(wish, target),
    omitted: findOmittedFields(wish, ['size']),
  }),
  toError: toCallerError,
  makesTasks: () => true,
  task: toTask,
  read(_answer, { provider }) {
    throw invalidAnswer(provider, 'a task in place of an image')
  },
}

function toBody(wish: ImageWish, target: ImageTarget): JsonObject {
  const { upstreamModel, inputs, isVariation } = target
  const { prompt, output_format: format } = wish
  if (format === 'webp') {
    throw unsupported('output_format', 'output_format: this model makes PNG and JPEG images.')
  }
  if (isVariation) return toVariationBody(wish, target)
  const maxInputs = maxInputsOf(upstreamModel)
  if (inputs.length > maxInputs) {
    throw unsupported('images', `images: this model changes up to ${maxInputs} images.`)
  }
  const images = inputs.map(({ base64 }, index): [string, string] => [
    index === 0 ? 'input_image' : `input_image_${index + 1}`,
    base64,
  ])
  return {
    prompt,
    ...Object.fromEntries(images),
    ...toSize(wish, upstreamModel),
    ...(format && { output_format: format }),
  }
}

/**
 * An image in place of a prompt. The ultra model mixes both: its strength of 1 is the image alone.
 * @see https://docs.bfl.ai/api-reference/models/generate-an-image-with-flux-11-[pro]
 */
const toVariationBody = (wish: ImageWish, { upstreamModel, inputs }: ImageTarget): JsonObject => ({
  image_prompt: inputs[0]?.base64,
  ...(upstreamModel.endsWith('ultra') && { image_prompt_strength: 1 }),
  ...toSize(wish, upstreamModel),
})

function toSize({ size }: ImageWish, model: string): JsonObject {
  if (!hasRatio(model)) return { ...(typeof size === 'string' && parseImageSize(size)) }
  const ratio = toAspectRatio(size, ratios)
  return ratio === undefined ? {} : { aspect_ratio: ratio }
}

/** Throws where the answer names no task, or one whose state is not at a host of the provider. */
function toTask(answer: unknown, context: TaskContext): ImageTask {
  const { source } = context
  const parsed = Submission.safeParse(answer)
  if (!parsed.success) throw invalidAnswer(source.provider, 'no task', parsed.error)
  const { polling_url: url, cost } = parsed.data
  if (!isOwnHost(url, context)) throw invalidAnswer(source.provider, 'the address of another host')
  const requestFee = typeof cost === 'number' ? BigInt(Math.round(cost * creditPrice)) : undefined
  return {
    request: { url, method: 'GET', body: {} },
    isPending: isTaskPending,
    read: (state) => ({
      images: [readTaskImage(state, source)],
      // Only a price with a fee for a request has it replaced by this one.
      usage: requestFee === undefined ? undefined : { ...noUsage, requestFee },
    }),
  }
}
