import { z } from 'zod'
import type { RelayTarget } from './request'
import { toAspectRatio } from '../aspect-ratio'
import { isFailure } from '../event'
import type { ImageAnswer, MadeImage } from '../image-adapter'
import type { RelayOptions } from '../provider'
import { invalidAnswer, toCallerError, type ErrorSource } from '../upstream-error'
import { parseImageSize, type AnyImageRequest } from '../../wire/image-request'
import { isObject, type JsonObject } from '../../wire/json-body'
import { noUsage, readUsage, type Usage } from '../../wire/usage'
import { parseUsd } from '../../wire/usd'

/** Whether a model answers with data alone, and refuses a `response_format`. */
const hasDataOnly = ({ images }: RelayOptions, model: string) =>
  images.dataModels.some((prefix) => model.startsWith(prefix))

/** The upstream request, and the fields that it lacks. */
export interface WrittenImages {
  body: JsonObject
  omittedFields: string[]
}

/** Writes a request for a provider of OpenAI's form. */
export function toUpstreamImages(
  request: JsonObject,
  { upstreamModel, options }: RelayTarget,
): WrittenImages {
  const body: JsonObject = {}
  for (const [name, value] of Object.entries(request)) if (value !== null) body[name] = value
  body['model'] = upstreamModel
  const { images } = options
  if (hasDataOnly(options, upstreamModel)) delete body['response_format']
  else if (body['response_format'] === 'b64_json') body['response_format'] = images.base64
  // For the cost in the last chunk of chats.
  delete body['stream_options']
  const omittedFields = [...options.drop, ...images.drop].filter((name) => name in body)
  for (const name of omittedFields) delete body[name]
  setSize(body, images)
  // Of a provider without streams the whole answer becomes one.
  return { body, omittedFields: omittedFields.filter((name) => name !== 'stream') }
}

/** Writes the images that are changed: their addresses alone, without what else a provider's account may know them by. */
export function toUpstreamInputs(
  { images = [], mask }: Pick<AnyImageRequest, 'images' | 'mask'>,
  { images: { edits } }: RelayOptions,
): JsonObject {
  const inputs = images.map(({ image_url: url }) =>
    edits === 'xai' ? { type: 'image_url', url } : { image_url: url },
  )
  if (edits === 'openrouter') {
    const references = images.map(({ image_url: url }) => ({
      type: 'image_url',
      image_url: { url },
    }))
    return { images: undefined, input_references: references }
  }
  const [first] = inputs
  if (edits === 'xai')
    return inputs.length > 1 ? { images: inputs } : { images: undefined, image: first }
  return { images: inputs, ...(mask && { mask: { image_url: mask.image_url } }) }
}

/** Writes the size as the provider has it. */
function setSize(body: JsonObject, { size: form, ratios }: RelayOptions['images']): void {
  const { size } = body
  if (form === 'size' || typeof size !== 'string') return
  delete body['size']
  if (form === 'sides') return void Object.assign(body, parseImageSize(size))
  const ratio = toAspectRatio(size, ratios)
  if (ratio !== undefined) body['aspect_ratio'] = ratio
}

const optional = z.string().min(1).nullish()

const Answer = z.looseObject({
  created: z.number().nullish(),
  data: z
    .array(
      z.looseObject({ b64_json: optional, url: optional, revised_prompt: z.string().nullish() }),
    )
    .min(1),
  size: z.string().nullish(),
  quality: z.string().nullish(),
  usage: z.unknown().optional(),
})

/** The fields of an answer that go on to the caller beside the images. */
const passedFields = ['created', 'background', 'output_format', 'quality', 'size'] as const

/** The number of images that are read, and the provider's options. */
interface ImageReading {
  count: number
  options: Pick<RelayOptions, 'images'>
}

/** Reads an answer with up to `count` images. Throws `provider_error`. */
export function readImages(
  answer: unknown,
  { count, options }: ImageReading,
  source: ErrorSource,
): ImageAnswer {
  if (isObject(answer) && isFailure(answer)) {
    throw toCallerError({ status: 200, body: answer }, source)
  }
  const parsed = Answer.safeParse(answer)
  if (!parsed.success) throw invalidAnswer(source.provider, 'no image', parsed.error)
  const { data, size, quality, usage } = parsed.data
  const images = data.slice(0, count).map(toMadeImage)
  if (images.some(({ b64_json: base64, url }) => (base64 ?? url) === undefined)) {
    throw invalidAnswer(source.provider, 'an image without data and without an address')
  }
  const fields: JsonObject = {}
  for (const name of passedFields) {
    const value: unknown = parsed.data[name]
    if (value !== undefined && value !== null) fields[name] = value
  }
  return {
    images,
    usage: readImageUsage(usage, options),
    size: size ?? undefined,
    quality: quality ?? undefined,
    fields,
  }
}

const toMadeImage = ({
  b64_json: base64,
  url,
  revised_prompt: prompt,
}: z.output<typeof Answer>['data'][number]): MadeImage => ({
  ...(base64 ? { b64_json: base64 } : url && { url }),
  ...(prompt && { revised_prompt: prompt }),
})

/** Reads the counts of an answer with images: output that is not said to be text is theirs. */
export function readImageUsage(
  block: unknown,
  { images: { statesCost } }: ImageReading['options'],
): Usage | undefined {
  if (!isObject(block)) return undefined
  const output = block['output_tokens'] ?? block['completion_tokens']
  const outputDetails = block['output_tokens_details'] ?? block['completion_tokens_details']
  const usage = readUsage(
    {
      prompt_tokens: block['input_tokens'] ?? block['prompt_tokens'],
      completion_tokens: output,
      total_tokens: block['total_tokens'],
      prompt_tokens_details: block['input_tokens_details'] ?? block['prompt_tokens_details'],
      completion_tokens_details: isObject(outputDetails) ? outputDetails : { image_tokens: output },
    },
    'inside',
  )
  const requestFee = statesCost ? readCost(block['cost']) : undefined
  return requestFee === undefined ? usage : { ...(usage ?? noUsage), requestFee }
}

/** The highest cost of one request that is believed, in USD. */
const maxCostUsd = 1000

const readCost = (cost: unknown): bigint | undefined =>
  typeof cost === 'number' && cost >= 0 && cost <= maxCostUsd ? parseUsd(cost) : undefined

/** The `usage` of an answer with images, as OpenAI has it. */
export const toImageUsageBlock = (usage: Usage) => {
  const { input, cachedInput, cacheWrite, cacheWriteLong, audioInput, imageInput } = usage
  const textTokens = input + cachedInput + cacheWrite + cacheWriteLong + audioInput
  const textOutput = usage.output + usage.reasoning + usage.audioOutput
  const output = textOutput + usage.imageOutput
  return {
    input_tokens: textTokens + imageInput,
    input_tokens_details: { text_tokens: textTokens, image_tokens: imageInput },
    output_tokens: output,
    output_tokens_details: { text_tokens: textOutput, image_tokens: usage.imageOutput },
    total_tokens: textTokens + imageInput + output,
  }
}
