import { AttemptSource } from './answer-facts'
import type { PricedAttempt, RequestAttempt, ValidatedRequest } from './attempt'
import { relayWhole, translateWhole } from './whole-exchange'
import type { Pricing } from '../catalog/model'
import {
  estimateImages,
  maxTokensPerImage,
  pixelsOf,
  usualPixelsOf,
  type ImageOrder,
} from '../metering/image-volume'
import { imageAdapterOf } from '../providers/adapters'
import { selectRelayAddress } from '../providers/chat-route'
import type { ImageAdapter, ImageAnswer, MadeImage } from '../providers/image-adapter'
import { readImages, toUpstreamImages } from '../providers/openai/images'
import type { UpstreamAttempt } from '../upstream/attempt'
import type { Deadline } from '../upstream/deadline'
import { HeldEvent } from '../upstream/large-events'
import type { ImageRequest } from '../wire/image-request'
import { readImageSize } from '../wire/image-size'
import { addUsage, noUsage, type Usage } from '../wire/usage'

type ImageAttempt = RequestAttempt<ImageRequest>

/** Ten images of the largest size, in base64. */
const maxAnswerBytes = 48 * 1024 * 1024

/** The number of requests to a provider for one of a caller that run at the same time. */
const maxConcurrent = 4

/** The parts of making images that are those of one request. */
interface Making {
  deadline: Deadline
  /** Takes the memory of the answers; disposed of by the caller. */
  held: DisposableStack
}

/** Images that were made, with their use. */
interface Made {
  answer: ImageAnswer
  usage: Usage
  /** Fields that the provider does not get. */
  omitted: readonly string[]
}

/** The parts of a request that its price depends on. */
export function orderOf({
  request,
}: Pick<PricedAttempt<ValidatedRequest<ImageRequest>>, 'request'>): ImageOrder {
  const { prompt, n, quality, size, stream, partial_images: partialImages } = request.params
  return {
    prompt,
    count: n ?? 1,
    quality: quality ?? undefined,
    size: size ?? undefined,
    partialImages: stream ? (partialImages ?? 0) : 0,
    inputImages: 0,
  }
}

/** The number of requests to the provider that an attempt needs. */
export function requestsFor(
  attempt: Pick<PricedAttempt<ValidatedRequest<ImageRequest>>, 'candidate' | 'request'>,
): number {
  const { provider, model } = attempt.candidate
  const adapter = imageAdapterOf(provider)
  if (!adapter) return 1
  return Math.ceil(orderOf(attempt).count / adapter.batchLimit(model.upstreamModel))
}

/**
 * Makes the images of a request, by several requests to the provider where one has a lower limit. Where some of these
 * fail, the others are the answer. Throws `AttemptFailed`, and errors that are no failed attempt.
 */
export async function makeImages(attempt: ImageAttempt, making: Making): Promise<Made> {
  const adapter = imageAdapterOf(attempt.candidate.provider)
  if (!adapter) return relay(attempt, making)
  const { count } = orderOf(attempt)
  const limit = adapter.batchLimit(attempt.model.upstreamModel)
  const counts = Array.from({ length: Math.ceil(count / limit) }, (_, index) =>
    Math.min(limit, count - index * limit),
  )
  const results: PromiseSettledResult<Made>[] = []
  for (let at = 0; at < counts.length; at += maxConcurrent) {
    const running = counts
      .slice(at, at + maxConcurrent)
      .map((batch) => translate(attempt, { ...making, adapter, count: batch }))
    results.push(...(await Promise.allSettled(running)))
    if (results.every(({ status }) => status === 'rejected')) break
  }
  const made = results.flatMap((result) => (result.status === 'fulfilled' ? [result.value] : []))
  const [first, ...others] = made
  if (first) return others.reduce(joinMade, first)
  const failure = results.find(({ status }) => status === 'rejected')
  throw failure?.status === 'rejected' ? failure.reason : new Error('no image was requested')
}

const joinMade = (one: Made, other: Made): Made => ({
  answer: { ...one.answer, images: [...one.answer.images, ...other.answer.images] },
  usage: addUsage(one.usage, other.usage),
  omitted: one.omitted,
})

async function relay(attempt: ImageAttempt, { deadline, held }: Making): Promise<Made> {
  const { candidate, model } = attempt
  const { upstreamModel } = model
  const { options } = candidate.provider
  const { body, omitted } = toUpstreamImages(attempt.body, { upstreamModel, options })
  const { url, deployment } = selectRelayAddress(candidate, upstreamModel, 'images')
  if (deployment !== undefined) body['model'] = deployment
  const order = orderOf(attempt)
  const source = new AttemptSource(attempt, 'prompt')
  const answer = await relayWhole(
    attempt,
    {
      request: { operation: 'images', url, body },
      source,
      deadline,
      large: largeOf(attempt, held),
      estimate: () => estimateOf(order, attempt),
      read: (whole) => readImages(whole, order.count, source),
    },
    'images',
  )
  return { answer, usage: usageOf(answer, order, attempt), omitted }
}

/** A request that an adapter writes, for a part of the images. */
interface TranslatedPart extends Making {
  adapter: ImageAdapter
  count: number
}

async function translate(
  attempt: ImageAttempt,
  { adapter, count, deadline, held }: TranslatedPart,
): Promise<Made> {
  const { model, request } = attempt
  const order = { ...orderOf(attempt), count }
  const { omitted = [], ...written } = adapter.request(request.params, {
    upstreamModel: model.upstreamModel,
    count,
    maxTokensPerImage: maxTokensPerImage(order, model),
    inputs: [],
  })
  const source = new AttemptSource(attempt, 'prompt')
  const answer = await translateWhole(
    attempt,
    {
      request: { operation: 'images', ...written },
      source,
      deadline,
      large: largeOf(attempt, held),
      estimate: () => estimateOf(order, attempt),
      read: (whole) => adapter.read(whole, source),
    },
    adapter,
  )
  const images = answer.images.slice(0, count)
  return {
    answer: { ...answer, images },
    usage: usageOf({ ...answer, images }, order, attempt),
    omitted,
  }
}

const largeOf = (
  { candidate, request }: ImageAttempt,
  held: DisposableStack,
): UpstreamAttempt['large'] => ({
  maxBytes: maxAnswerBytes,
  held: held.use(
    new HeldEvent(
      request.ports.largeAnswers,
      candidate.connection.owner ?? request.principal.accountId,
    ),
  ),
})

const estimateOf = (order: ImageOrder, { model: { pricing } }: ImageAttempt): Usage =>
  estimateImages(order, { tokens: pricing !== null && chargesImageTokens(pricing) })

const chargesImageTokens = ({ output, imageOutput = output }: Pricing): boolean => imageOutput > 0n

/** Whether a price charges no token at all, so that none need be counted. */
const isByImage = (pricing: Pricing): boolean =>
  pricing.input === 0n && !chargesImageTokens(pricing)

/** The use of an answer: its images, and the provider's tokens, or an estimate where the price charges them. */
function usageOf(answer: ImageAnswer, order: ImageOrder, attempt: ImageAttempt): Usage {
  const { images, quality } = answer
  const { pricing } = attempt.model
  const made = { ...order, count: images.length }
  const uncounted = pricing && isByImage(pricing) ? noUsage : estimateOf(made, attempt)
  return {
    ...(answer.usage ?? uncounted),
    madeImages: images.length,
    madePixels: sum(images.map((image) => pixelsIn(image, answer, order))),
    imageQuality: quality,
  }
}

const sum = (numbers: readonly number[]) => numbers.reduce((total, number) => total + number, 0)

/** The pixels of an image: as the provider reports them, as they are in its data, or as they were requested. */
function pixelsIn({ b64_json: data }: MadeImage, { size }: ImageAnswer, order: ImageOrder): number {
  const reported = pixelsOf(size)
  if (reported !== undefined) return reported
  const read = data === undefined ? undefined : readImageSize(data)
  return read ? read.width * read.height : usualPixelsOf(order)
}
