import type { ValidatedRequest } from './attempt'
import { findImageUrls } from './choose-protocol'
import { fetchImage, ImageRefused, type ImagePorts } from './image-fetch'
import type { Principal } from '../auth/principal'
import { invalidRequest } from '../errors'
import type { MediaData } from '../providers/media'
import type { CallerChat } from '../wire/chat-request'

/** The account of the request, and the transport. */
interface FetchingAttempt {
  request: {
    ports: { images: ImagePorts }
    principal: Pick<Principal, 'accountId'>
  }
}

type ImageAttempt = FetchingAttempt & Parameters<typeof findImageUrls>[0]

/** The images that a chat request references by URL; undefined where there are none, as in nearly all. */
export function findRemoteImages({
  params,
}: Pick<ValidatedRequest<CallerChat>, 'params'>): RemoteImages | undefined {
  const slots = findImages(params)
  return slots.size > 0 ? new RemoteImages(slots) : undefined
}

const noParams: ReadonlyMap<string, string> = new Map()

const hasContentParts = ({ content }: CallerChat['messages'][number]) => Array.isArray(content)

/** Each URL, and the first field that contains it. */
function findImages({ messages }: CallerChat): ReadonlyMap<string, string> {
  if (!messages.some(hasContentParts)) return noParams
  const params = new Map<string, string>()
  for (const [position, { content }] of messages.entries()) {
    if (!Array.isArray(content)) continue
    for (const [index, part] of content.entries()) {
      if (part.type !== 'image_url') continue
      const { url } = part.image_url
      const param = `messages.${position}.content.${index}.image_url.url`
      if (!url.startsWith('data:') && !params.has(url)) params.set(url, param)
    }
  }
  return params
}

/** One request's images: fetched for the first candidate that needs their bytes, and kept for the next. */
export class RemoteImages {
  readonly #params: ReadonlyMap<string, string>
  readonly #media = new Map<string, MediaData>()
  #room: { bytes: number } | undefined

  constructor(params: ReadonlyMap<string, string>) {
    this.#params = params
  }

  /** The fetched images, by URL. */
  get media(): ReadonlyMap<string, MediaData> {
    return this.#media
  }

  /**
   * Fetches the images that the attempt's candidate does not fetch itself. Throws `invalid_request` where one is not
   * available, or the reason for which the request has ended; `requestSignal` aborts when it has.
   */
  async fetchFor(attempt: ImageAttempt, requestSignal: AbortSignal): Promise<void> {
    await this.fetchAddresses(findImageUrls(attempt), attempt, requestSignal)
  }

  /** Fetches these, except those fetched before. Throws as `fetchFor`. */
  async fetchAddresses(
    urls: readonly string[],
    attempt: FetchingAttempt,
    requestSignal: AbortSignal,
  ): Promise<void> {
    const { maxImages } = attempt.request.ports.images.limits
    const beyond = urls[maxImages]
    if (beyond !== undefined) {
      throw this.#refusal(beyond, new ImageRefused('too_many', `at most ${maxImages} a request`))
    }
    const missingUrls = urls.filter((url) => !this.#media.has(url))
    if (missingUrls.length > 0) await this.#fetchAll(missingUrls, attempt, requestSignal)
  }

  async #fetchAll(
    missingUrls: readonly string[],
    attempt: FetchingAttempt,
    requestSignal: AbortSignal,
  ): Promise<void> {
    const { maxConcurrent, timeoutMs, maxTotalBytes } = attempt.request.ports.images.limits
    this.#room ??= { bytes: maxTotalBytes }
    const timer = AbortSignal.timeout(timeoutMs)
    // The first that fails ends the others.
    const ending = new AbortController()
    const signal = AbortSignal.any([requestSignal, timer, ending.signal])
    const waiting = missingUrls.values()
    const next = async () => {
      for (const url of waiting) await this.#fetchOne(url, attempt, signal)
    }
    try {
      await Promise.all(Array.from({ length: Math.min(maxConcurrent, missingUrls.length) }, next))
    } catch (thrown) {
      if (requestSignal.aborted) throw requestSignal.reason
      if (!timer.aborted) throw thrown
      const late = missingUrls.find((url) => !this.#media.has(url)) ?? ''
      const message = `it did not arrive within ${Math.round(timeoutMs / 1000)} s`
      throw this.#refusal(late, new ImageRefused('bad_format', message))
    } finally {
      ending.abort()
    }
  }

  async #fetchOne(url: string, { request }: FetchingAttempt, signal: AbortSignal): Promise<void> {
    const { ports, principal } = request
    const { transport, slots, limits } = ports.images
    const owner = principal.accountId
    using _slot = await slots.acquire(owner, signal)
    const room = this.#room ?? { bytes: 0 }
    const { maxBytes } = limits
    try {
      this.#media.set(url, await fetchImage(transport, { url, owner, signal, maxBytes, room }))
    } catch (thrown) {
      throw thrown instanceof ImageRefused ? this.#refusal(url, thrown) : thrown
    }
  }

  #refusal(url: string, { issue, message }: ImageRefused) {
    const param = this.#params.get(url) ?? null
    const field = param === null ? '' : `${param}: `
    return invalidRequest(
      param,
      issue,
      `${field}the image could not be fetched: ${message}. Send it as a data URL instead.`,
    )
  }
}
