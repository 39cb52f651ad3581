import { AttemptSource } from './answer-facts'
import type { RequestAttempt } from './attempt'
import { awaitTask } from './await-task'
import { countImages, estimateOrder, orderOf } from './image-usage'
import { relayWhole, translateWhole } from './whole-exchange'
import { maxTokensPerImage } from '../metering/image-volume'
import { imageAdapterOf } from '../providers/adapters'
import { selectRelayAddress } from '../providers/chat-route'
import type { ImageAdapter, ImageAnswer } from '../providers/image-adapter'
import { readDataUrl, type MediaData } from '../providers/media'
import { toImageForm } from '../providers/openai/image-form'
import { readImages, toUpstreamImages, toUpstreamInputs } from '../providers/openai/images'
import { addressOf } from '../providers/provider-route'
import type { Candidate } from '../routing/candidate'
import type { UpstreamAttempt } from '../upstream/attempt'
import type { Deadline } from '../upstream/deadline'
import type { OutgoingRequest } from '../upstream/protocol/protocol'
import { HeldEvent } from '../upstream/large-events'
import { paths } from '../upstream/request-head'
import { isVariation, type AnyImageRequest } from '../wire/image-request'
import { addUsage } from '../wire/add-usage'
import type { Usage } from '../wire/usage'

type ImageAttempt = RequestAttempt<AnyImageRequest>

/** Ten images of the largest size, in base64. */
const maxAnswerBytes = 48 * 1024 * 1024

/** The number of requests to a provider for one of a caller that run at the same time. */
const maxConcurrent = 4

/** The parts of making images that are those of one request. */
interface Making {
  deadline: Deadline
  /** Takes the memory of the answers; disposed of by the caller. */
  heldMemory: DisposableStack
  /** The images of the request that were fetched, by their addresses. */
  media: ReadonlyMap<string, MediaData>
}

/** Images that were made, with their use. */
interface Made {
  answer: ImageAnswer
  usage: Usage
  /** Fields that the provider does not get. */
  omittedFields: readonly string[]
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
  const madeAnswers = results.flatMap((result) =>
    result.status === 'fulfilled' ? [result.value] : [],
  )
  const [first, ...others] = madeAnswers
  if (first) return others.reduce(joinMade, first)
  const failure = results.find(({ status }) => status === 'rejected')
  throw failure?.status === 'rejected' ? failure.reason : new Error('no image was requested')
}

const joinMade = (one: Made, other: Made): Made => ({
  answer: { ...one.answer, images: [...one.answer.images, ...other.answer.images] },
  usage: addUsage(one.usage, other.usage),
  omittedFields: one.omittedFields,
})

/** A request as its provider gets it, and the fields that it does not get. */
interface WrittenRequest {
  request: OutgoingRequest
  omittedFields: readonly string[]
}

/** Writes the request of an attempt in OpenAI's form. */
export function writeRelayedImages(
  { candidate, model, body: sentBody, request }: ImageAttempt,
  media: ReadonlyMap<string, MediaData>,
): WrittenRequest {
  const { upstreamModel } = model
  const { options } = candidate.provider
  const { body, omittedFields } = toUpstreamImages(sentBody, { upstreamModel, options })
  const { images, mask } = request.params
  if (isVariation(request.params)) {
    const files = { images: readInputs(images, media), mask: undefined }
    const tunnelPath = besideGenerations(candidate, 'variations')
    delete body['images']
    return {
      request: {
        operation: 'images',
        url: `${addressOf(candidate)}${tunnelPath}`,
        tunnelPath,
        body,
        toContent: (fields) => toImageForm(fields, files),
      },
      omittedFields,
    }
  }
  const operation = images ? 'imageEdits' : 'images'
  const { url, deployment } = selectRelayAddress(candidate, upstreamModel, operation)
  if (deployment !== undefined) body['model'] = deployment
  if (!images) return { request: { operation: 'images', url, body }, omittedFields }
  const tunnelPath = besideGenerations(candidate, 'edits')
  const edit = {
    operation: 'images',
    url: url ?? `${addressOf(candidate)}${tunnelPath}`,
    tunnelPath,
    body,
  } as const
  if (options.images.edits === 'form') {
    const files = {
      images: readInputs(images, media),
      mask: readInputs(mask ? [mask] : [], media)[0],
    }
    delete body['images']
    delete body['mask']
    return {
      request: { ...edit, toContent: (fields) => toImageForm(fields, files) },
      omittedFields,
    }
  }
  Object.assign(body, toUpstreamInputs({ images, mask }, options))
  return { request: edit, omittedFields }
}

/** The path of edits or variations, beside that of generations. */
function besideGenerations({ provider }: Candidate, path: 'edits' | 'variations'): string {
  const { images: own = paths.images } = provider.options.paths
  return own.replace(/generations$/, path)
}

/** The data of the images that are changed. */
const readInputs = (
  images: AnyImageRequest['images'] = [],
  media: ReadonlyMap<string, MediaData>,
): MediaData[] => images.flatMap(({ image_url: url }) => readDataUrl(url) ?? media.get(url) ?? [])

/** Writes a request for a part of the images of an attempt. */
export function writeTranslatedImages(
  attempt: ImageAttempt,
  { adapter, count, media }: Pick<TranslatedPart, 'adapter' | 'count' | 'media'>,
): WrittenRequest {
  const { model, request } = attempt
  const { prompt = '' } = request.params
  const wish = { ...request.params, prompt }
  const { omitted: omittedFields = [], ...writtenRequest } = adapter.request(wish, {
    upstreamModel: model.upstreamModel,
    count,
    // Words for quality have no meaning there.
    maxTokensPerImage: maxTokensPerImage({ ...orderOf(attempt), quality: undefined }, model),
    inputs: readInputs(request.params.images, media),
    isVariation: isVariation(request.params),
  })
  return { request: { operation: 'images', ...writtenRequest }, omittedFields }
}

async function relay(
  attempt: ImageAttempt,
  { deadline, heldMemory, media }: Making,
): Promise<Made> {
  const { request, omittedFields } = writeRelayedImages(attempt, media)
  const order = orderOf(attempt)
  const source = new AttemptSource(attempt, 'prompt')
  const answer = await relayWhole(
    attempt,
    {
      request,
      source,
      deadline,
      large: largeOf(attempt, heldMemory),
      estimate: () => estimateOrder(order, attempt.model),
      read: (whole) =>
        readImages(
          whole,
          { count: order.count, options: attempt.candidate.provider.options },
          source,
        ),
    },
    'images',
  )
  return { answer, usage: countImages(answer, order, attempt.model), omittedFields }
}

/** A request that an adapter writes, for a part of the images. */
interface TranslatedPart extends Making {
  adapter: ImageAdapter
  count: number
}

async function translate(
  attempt: ImageAttempt,
  { adapter, count, deadline, heldMemory, media }: TranslatedPart,
): Promise<Made> {
  const order = { ...orderOf(attempt), count }
  const { request, omittedFields } = writeTranslatedImages(attempt, { adapter, count, media })
  const source = new AttemptSource(attempt, 'prompt')
  const estimate = () => estimateOrder(order, attempt.model)
  const context = { ...taskContextOf(attempt), source }
  const first = await translateWhole(
    attempt,
    {
      request,
      source,
      deadline,
      large: largeOf(attempt, heldMemory),
      estimate,
      read: (whole) =>
        adapter.task && adapter.makesTasks?.(attempt.model.upstreamModel)
          ? { task: adapter.task(whole, context) }
          : { answer: adapter.read(whole, source) },
    },
    adapter,
  )
  const answer =
    first.answer ??
    (await awaitTask(attempt, first.task, { deadline, source, estimate, toError: adapter.toError }))
  const images = answer.images.slice(0, count)
  return {
    answer: { ...answer, images },
    usage: countImages({ ...answer, images }, order, attempt.model),
    omittedFields,
  }
}

const taskContextOf = ({ candidate, model }: ImageAttempt) => ({
  upstreamModel: model.upstreamModel,
  address: addressOf(candidate),
  ownAddress: candidate.provider.baseUrl,
})

const largeOf = (
  { candidate, request }: ImageAttempt,
  heldMemory: DisposableStack,
): UpstreamAttempt['large'] => ({
  maxBytes: maxAnswerBytes,
  memory: heldMemory.use(
    new HeldEvent(
      request.ports.largeAnswers,
      candidate.connection.owner ?? request.principal.accountId,
    ),
  ),
})
