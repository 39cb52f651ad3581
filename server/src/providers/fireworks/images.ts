import { z } from 'zod'
import { toAspectRatio } from '../aspect-ratio'
import { isTaskPending, readTaskImage } from '../bfl/task-state'
import type {
  ImageAdapter,
  ImageAnswer,
  ImageTarget,
  ImageTask,
  ImageUpstreamRequest,
  ImageWish,
  TaskContext,
} from '../image-adapter'
import { readDataUrl } from '../media'
import { findOmittedFields } from '../omitted-image-fields'
import { unsupported } from '../unsupported-fields'
import { invalidAnswer, toCallerError, type ErrorSource } from '../upstream-error'
import { invalidRequest } from '../../errors'
import type { JsonObject } from '../../wire/json-body'

/** https://docs.fireworks.ai/api-reference/generate-a-new-image-from-a-text-prompt */
const ratios = ['1:1', '21:9', '16:9', '3:2', '5:4', '4:5', '2:3', '9:16', '9:21', '4:3', '3:4']

/** Models that make images as tasks, and change one: those of Black Forest Labs itself. */
const isKontext = (model: string) => model.includes('flux-kontext')

/** The steps of models whose price is by step: as many as they have by themselves. */
const stepsOf = (model: string) => (model.includes('flux-1-schnell') ? 4 : undefined)

const Answer = z.looseObject({
  base64: z.union([z.string().min(1), z.array(z.string().min(1))]).nullish(),
  finishReason: z.string().nullish(),
})

const Submission = z.looseObject({ request_id: z.string().min(1) })

/**
 * Images of Fireworks, one a request, by the paths of its workflows.
 * @see https://docs.fireworks.ai/api-reference/generate-or-edit-image-using-flux-kontext
 */
export const fireworksImages: ImageAdapter = {
  batchLimit: () => 1,
  edits: isKontext,
  request: (wish, target) =>
    isKontext(target.upstreamModel) ? toTaskRequest(wish, target) : toRequest(wish, target),
  toError: toCallerError,
  makesTasks: isKontext,
  task: toTask,
  read: readAnswer,
}

const pathOf = (model: string) => `/workflows/${model.split('/').map(encodeURIComponent).join('/')}`

function toRequest(wish: ImageWish, { upstreamModel }: ImageTarget): ImageUpstreamRequest {
  if ((wish.output_format ?? 'png') !== 'png') {
    throw unsupported('output_format', 'output_format: this model makes PNG images.')
  }
  const steps = stepsOf(upstreamModel)
  return {
    path: `${pathOf(upstreamModel)}/text_to_image`,
    headers: { accept: 'application/json' },
    body: {
      prompt: wish.prompt,
      ...toRatio(wish),
      ...(steps !== undefined && { num_inference_steps: steps }),
    },
    omitted: findOmittedFields(wish, ['size']),
  }
}

function toTaskRequest(
  wish: ImageWish,
  { upstreamModel, inputs }: ImageTarget,
): ImageUpstreamRequest {
  const { prompt, output_format: format } = wish
  if (format === 'webp') {
    throw unsupported('output_format', 'output_format: this model makes PNG and JPEG images.')
  }
  const [input, ...others] = inputs
  if (others.length > 0) throw unsupported('images', 'images: this model changes one image.')
  return {
    path: pathOf(upstreamModel),
    headers: { accept: 'application/json' },
    body: {
      prompt,
      ...(input && { input_image: input.base64 }),
      ...toRatio(wish),
      ...(format && { output_format: format }),
    },
    omitted: findOmittedFields(wish, ['size']),
  }
}

function toRatio({ size }: ImageWish): JsonObject {
  const ratio = toAspectRatio(size, ratios)
  return ratio === undefined ? {} : { aspect_ratio: ratio }
}

function toTask(answer: unknown, { source, address, upstreamModel }: TaskContext): ImageTask {
  const parsed = Submission.safeParse(answer)
  if (!parsed.success) throw invalidAnswer(source.provider, 'no task', parsed.error)
  const { request_id: id } = parsed.data
  return {
    request: {
      url: `${address}${pathOf(upstreamModel)}/get_result`,
      method: 'POST',
      body: { id },
    },
    isPending: isTaskPending,
    read: (state) => ({ images: [readTaskImage(state, source)], usage: undefined }),
  }
}

function readAnswer(answer: unknown, { provider }: ErrorSource): ImageAnswer {
  const parsed = Answer.safeParse(answer)
  if (!parsed.success) throw invalidAnswer(provider, 'no image', parsed.error)
  const { base64, finishReason } = parsed.data
  if (finishReason === 'CONTENT_FILTERED') {
    throw invalidRequest('prompt', 'content_filter', `${provider} filtered the image.`)
  }
  const images = typeof base64 === 'string' ? [base64] : (base64 ?? [])
  if (images.length === 0) throw invalidAnswer(provider, 'a response without an image')
  // Its documentation has both: data, and data URLs.
  return {
    images: images.map((data) => ({ b64_json: readDataUrl(data)?.base64 ?? data })),
    usage: undefined,
  }
}
