import type { PricedAttempt, ValidatedRequest } from './attempt'
import type { Model, Pricing } from '../catalog/model'
import { estimateImages, pixelsOf, usualPixelsOf, type ImageOrder } from '../metering/image-volume'
import { imageAdapterOf } from '../providers/adapters'
import type { ImageAnswer, MadeImage } from '../providers/image-adapter'
import type { AnyImageRequest } from '../wire/image-request'
import { readImageSize } from '../wire/image-size'
import { noUsage, type Usage } from '../wire/usage'

type Priced = Pick<Model, 'pricing'>

/** The parts of a request that its price depends on. */
export function orderOf({
  request,
}: Pick<PricedAttempt<ValidatedRequest<AnyImageRequest>>, 'request'>): ImageOrder {
  const { prompt = '', n, quality, size, stream, partial_images: partialImages } = request.params
  const { images = [], mask } = request.params
  return {
    prompt,
    count: n ?? 1,
    quality: quality ?? undefined,
    size: size ?? undefined,
    partialImages: stream ? (partialImages ?? 0) : 0,
    inputImages: images.length + (mask ? 1 : 0),
  }
}

/** The number of requests to the provider that an attempt needs. */
export function requestsFor(
  attempt: Pick<PricedAttempt<ValidatedRequest<AnyImageRequest>>, 'candidate' | 'request'>,
): number {
  const { provider, model } = attempt.candidate
  const adapter = imageAdapterOf(provider)
  if (!adapter) return 1
  return Math.ceil(orderOf(attempt).count / adapter.batchLimit(model.upstreamModel))
}

/** Estimates the use of a request by its fields. */
export const estimateOrder = (order: ImageOrder, { pricing }: Priced): Usage =>
  estimateImages(order, { tokens: pricing !== null && chargesImageTokens(pricing) })

const chargesImageTokens = ({ output, imageOutput = output }: Pricing): boolean => imageOutput > 0n

/** Whether a price charges no token at all, so that none need be counted. */
const isByImage = (pricing: Pricing): boolean =>
  pricing.input === 0n && !chargesImageTokens(pricing)

/** The use of an answer: its images, and the provider's tokens, or an estimate where the price charges them. */
export function countImages(answer: ImageAnswer, order: ImageOrder, model: Priced): Usage {
  const { images, quality } = answer
  const { pricing } = model
  const countedOrder = { ...order, count: images.length }
  const uncounted = pricing && isByImage(pricing) ? noUsage : estimateOrder(countedOrder, model)
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
  const reportedPixels = pixelsOf(size)
  if (reportedPixels !== undefined) return reportedPixels
  const dataSize = data === undefined ? undefined : readImageSize(data)
  return dataSize ? dataSize.width * dataSize.height : usualPixelsOf(order)
}
