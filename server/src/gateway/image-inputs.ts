import type { RequestAttempt } from './attempt'
import { checkTunnel } from './check-tunnel'
import { RemoteImages } from './remote-images'
import { createAnswerDeadline } from './request-deadline'
import { receivesUrls } from './url-receivers'
import { servesKind } from '../catalog/served-kinds'
import { imageAdapterOf } from '../providers/adapters'
import type { MediaData } from '../providers/media'
import { unsupported } from '../providers/unsupported-fields'
import { isSharedCredential } from '../shared-credentials/credential'
import { rejectRemote } from '../shared-credentials/rejections'
import { isVariation, type AnyImageRequest } from '../wire/image-request'

type ImageAttempt = RequestAttempt<AnyImageRequest>

/** The images that one request wants changed: their addresses are fetched for providers that do not fetch them. */
export class ImageInputs {
  readonly #addresses: readonly string[]
  readonly #images: RemoteImages
  /** The first field that names an address. */
  readonly #remoteParam: string | undefined

  constructor({ images = [], mask }: Pick<AnyImageRequest, 'images' | 'mask'>) {
    const params = new Map<string, string>()
    for (const [index, { image_url: url }] of images.entries()) {
      if (!url.startsWith('data:')) params.set(url, `images.${index}.image_url`)
    }
    const maskUrl = mask?.image_url ?? 'data:'
    if (!maskUrl.startsWith('data:') && !params.has(maskUrl)) params.set(maskUrl, 'mask.image_url')
    this.#remoteParam = params.values().next().value
    this.#addresses = [...params.keys()]
    this.#images = new RemoteImages(params)
  }

  /** The fetched images, by their addresses. */
  get media(): ReadonlyMap<string, MediaData> {
    return this.#images.media
  }

  /**
   * Fetches what the attempt's candidate does not fetch itself. Throws `invalid_request` where that does not take the
   * request, or an image is not available.
   */
  async fetchFor(attempt: ImageAttempt, signal: AbortSignal): Promise<void> {
    checkImages(attempt)
    if (this.#remoteParam === undefined) return
    const { candidate } = attempt
    const { edits } = candidate.provider.options.images
    const isForm = edits === 'form' || isVariation(attempt.request.params)
    if (!imageAdapterOf(candidate.provider) && !isForm) {
      // A server in the operator's network would fetch what its callers do not reach.
      const receives = !isSharedCredential(candidate) || receivesUrls(candidate)
      if (!receives) throw rejectRemote(this.#remoteParam)
      return
    }
    await this.#images.fetchAddresses(this.#addresses, attempt, signal)
  }

  /** Fetches them before the provider is called, where a stream's own deadline begins. Throws as `fetchFor`. */
  async fetchFirst(attempt: ImageAttempt): Promise<void> {
    using deadline = createAnswerDeadline(attempt.request)
    await this.fetchFor(attempt, deadline.signal)
  }
}

/** Throws `invalid_request` where a candidate does not take the request. */
function checkImages(attempt: ImageAttempt): void {
  const { provider } = attempt.candidate
  if (!servesKind(provider, 'image')) {
    throw unsupported('model', `model: ${provider.name} does not serve images.`)
  }
  const { params } = attempt.request
  if (isVariation(params)) checkVariations(attempt)
  else if (params.images) checkEdits(attempt)
}

/** The dialects in which variations are requested; Azure has retired them. */
const variationDialects: ReadonlySet<string> = new Set(['openai', 'sandbox'])

function checkVariations(attempt: ImageAttempt): void {
  const { candidate, model } = attempt
  const { provider } = candidate
  const { edits } = provider.options.images
  const adapter = imageAdapterOf(provider)
  const isVarying = adapter
    ? adapter.varies?.(model.upstreamModel) === true
    : variationDialects.has(provider.dialect) && (edits === 'openai' || edits === 'form')
  if (!isVarying) throw unsupported('model', 'model: this model makes no variations of images.')
  checkTunnel(attempt)
}

function checkEdits(attempt: ImageAttempt): void {
  const { candidate, model, request } = attempt
  const { provider } = candidate
  const adapter = imageAdapterOf(provider)
  const isEditing = adapter
    ? adapter.edits(model.upstreamModel)
    : provider.options.images.edits !== 'none'
  if (!isEditing) throw unsupported('model', 'model: this model changes no images.')
  checkTunnel(attempt)
  const takesMask = !adapter && ['openai', 'form'].includes(provider.options.images.edits)
  if (request.params.mask && !takesMask) {
    throw unsupported('mask', 'mask: this model changes whole images.')
  }
}
