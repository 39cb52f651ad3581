import type { RequestAttempt } from './attempt'
import { fetchImage, ImageRefused } from './image-fetch'
import type { MadeImage } from '../providers/image-adapter'
import { imageTypeOf } from '../wire/drawn-images'
import type { AnyImageRequest } from '../wire/image-request'

type ImageAttempt = RequestAttempt<AnyImageRequest>

/**
 * Returns images in the form that the caller requested: data of an address is fetched by the guarded way out, and data
 * becomes a data URL. An address whose data cannot be fetched stays, as the image is paid for. Rejects only where the
 * request has ended.
 */
export async function toRequestedForm(
  images: readonly MadeImage[],
  attempt: ImageAttempt,
  signal: AbortSignal,
): Promise<MadeImage[]> {
  const { stream, response_format: requestedForm } = attempt.request.params
  // Events have data; only a caller who asks for addresses reads them there.
  const form = requestedForm ?? (stream ? 'b64_json' : undefined)
  if (form === 'b64_json') return fetchAll(images, attempt, signal)
  return form === 'url' ? images.map(withUrl) : [...images]
}

function withUrl({ b64_json: data, ...image }: MadeImage): MadeImage {
  if (data === undefined || image.url !== undefined) return image
  return { url: `data:${imageTypeOf(data)};base64,${data}`, ...image }
}

async function fetchAll(
  images: readonly MadeImage[],
  { request }: ImageAttempt,
  requestSignal: AbortSignal,
): Promise<MadeImage[]> {
  const { ports, principal } = request
  const { transport, slots, limits } = ports.images
  if (images.every(({ url }) => url === undefined)) return [...images]
  const owner = principal.accountId
  const room = { bytes: limits.maxTotalBytes }
  const signal = AbortSignal.any([requestSignal, AbortSignal.timeout(limits.timeoutMs)])
  const fetchedImages: MadeImage[] = []
  for (const image of images) {
    const { url, ...rest } = image
    if (url === undefined) fetchedImages.push(image)
    else {
      try {
        using _slot = await slots.acquire(owner, signal)
        const { maxBytes } = limits
        const { base64 } = await fetchImage(transport, { url, owner, signal, maxBytes, room })
        fetchedImages.push({ b64_json: base64, ...rest })
      } catch (thrown) {
        requestSignal.throwIfAborted()
        if (!(thrown instanceof ImageRefused) && !signal.aborted) throw thrown
        fetchedImages.push(image)
      }
    }
  }
  return fetchedImages
}
