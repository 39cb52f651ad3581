import type { FetchPlaces } from './fetch-places'
import { fetchImage, ImageRefused } from './image-fetch'
import type { ValidatedRequest } from './request'
import { findImageUrls } from './upstream-chat'
import type { Principal } from '../auth/principal'
import type { GuardedWay } from '../upstream/http/egress'
import { invalidRequest } from '../errors'
import type { MediaData } from '../providers/media'
import type { CallerChat } from '../wire/chat-request'

/** The limits of the images fetched for one request. */
interface ImageLimits {
  most: number
  mostBytes: number
  /** For all its images together. */
  mostBytesInAll: number
  atOnce: number
  /** For all of them, from the first to the last byte. */
  ms: number
}

/** As base64 they are as long as the longest body that clients may send. */
export const imageLimits: ImageLimits = {
  most: 32,
  mostBytes: 20 * 1024 * 1024,
  mostBytesInAll: 24 * 1024 * 1024,
  atOnce: 4,
  ms: 20_000,
}

/** The dependencies of fetching images; the transport is always the guarded one. */
export interface ImagePorts {
  way: GuardedWay
  places: FetchPlaces
  limits: ImageLimits
}

/** The account of the request, and the transport. */
interface Fetching {
  checked: {
    ports: { images: ImagePorts }
    principal: Pick<Principal, 'accountId'>
  }
}

type ShownTurn = Fetching & Parameters<typeof findImageUrls>[0]

/** The images that a chat request references by URL; undefined where there are none, as in nearly all. */
export function findRemoteImages({
  request,
}: Pick<ValidatedRequest<CallerChat>, 'request'>): RemoteImages | undefined {
  const places = placesOf(request)
  return places.size > 0 ? new RemoteImages(places) : undefined
}

const nowhere: ReadonlyMap<string, string> = new Map()

const isOfParts = ({ content }: CallerChat['messages'][number]) => Array.isArray(content)

/** Each URL, and the first field that contains it. */
function placesOf({ messages }: CallerChat): ReadonlyMap<string, string> {
  if (!messages.some(isOfParts)) return nowhere
  const places = new Map<string, string>()
  for (const [position, { content }] of messages.entries()) {
    if (!Array.isArray(content)) continue
    for (const [index, part] of content.entries()) {
      if (part.type !== 'image_url') continue
      const { url } = part.image_url
      const param = `messages.${position}.content.${index}.image_url.url`
      if (!url.startsWith('data:') && !places.has(url)) places.set(url, param)
    }
  }
  return places
}

/** One request's images: fetched for the first candidate that needs their bytes, and kept for the next. */
export class RemoteImages {
  readonly #places: ReadonlyMap<string, string>
  readonly #media = new Map<string, MediaData>()
  #room: { bytes: number } | undefined

  constructor(places: ReadonlyMap<string, string>) {
    this.#places = places
  }

  /** The fetched images, by URL. */
  get media(): ReadonlyMap<string, MediaData> {
    return this.#media
  }

  /**
   * Fetches the images that the attempt's candidate does not fetch itself. Throws `invalid_request` where one is not
   * available, or the reason for which the request has ended; `within` aborts when it has.
   */
  async fetchFor(turn: ShownTurn, within: AbortSignal): Promise<void> {
    await this.fetchAddresses(findImageUrls(turn), turn, within)
  }

  /** Fetches these, except those fetched before. Throws as `fetchFor`. */
  async fetchAddresses(
    wanted: readonly string[],
    turn: Fetching,
    within: AbortSignal,
  ): Promise<void> {
    const { most } = turn.checked.ports.images.limits
    const beyond = wanted[most]
    if (beyond !== undefined) {
      throw this.#refusal(beyond, new ImageRefused('too_many', `at most ${most} a request`))
    }
    const missing = wanted.filter((url) => !this.#media.has(url))
    if (missing.length > 0) await this.#fetchAll(missing, turn, within)
  }

  async #fetchAll(missing: readonly string[], turn: Fetching, within: AbortSignal): Promise<void> {
    const { atOnce, ms, mostBytesInAll } = turn.checked.ports.images.limits
    this.#room ??= { bytes: mostBytesInAll }
    const timer = AbortSignal.timeout(ms)
    // The first that fails ends the others.
    const ending = new AbortController()
    const signal = AbortSignal.any([within, timer, ending.signal])
    const waiting = missing.values()
    const next = async () => {
      for (const url of waiting) await this.#fetchOne(url, turn, signal)
    }
    try {
      await Promise.all(Array.from({ length: Math.min(atOnce, missing.length) }, next))
    } catch (thrown) {
      if (within.aborted) throw within.reason
      if (!timer.aborted) throw thrown
      const late = missing.find((url) => !this.#media.has(url)) ?? ''
      const words = `it did not come within ${Math.round(ms / 1000)} s`
      throw this.#refusal(late, new ImageRefused('bad_format', words))
    } finally {
      ending.abort()
    }
  }

  async #fetchOne(url: string, { checked }: Fetching, signal: AbortSignal): Promise<void> {
    const { ports, principal } = checked
    const { way, places, limits } = ports.images
    const owner = principal.accountId
    using _place = await places.enter(owner, signal)
    const room = this.#room ?? { bytes: 0 }
    const { mostBytes } = limits
    try {
      this.#media.set(url, await fetchImage(way, { url, owner, signal, mostBytes, room }))
    } catch (thrown) {
      throw thrown instanceof ImageRefused ? this.#refusal(url, thrown) : thrown
    }
  }

  #refusal(url: string, { issue, message }: ImageRefused) {
    const param = this.#places.get(url) ?? null
    const field = param === null ? '' : `${param}: `
    return invalidRequest(
      param,
      issue,
      `${field}the image could not be fetched: ${message}. Send it as a data URL instead.`,
    )
  }
}
