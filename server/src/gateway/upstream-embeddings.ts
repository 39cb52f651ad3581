import { AttemptSource } from './answer-facts'
import type { RequestAttempt } from './attempt'
import { relayWhole, translateWhole, type WholeExchange } from './whole-exchange'
import { estimateInputs } from '../metering/estimate'
import { embeddingAdapterOf } from '../providers/adapters'
import { selectRelayAddress } from '../providers/chat-route'
import type { EmbeddingAdapter } from '../providers/embedding-adapter'
import type { InputKinds } from '../providers/embedding-inputs'
import { checkWidths, requestedWidth } from '../providers/embedding-width'
import {
  findAddressesToFetch,
  getImageFormat,
  pathOfFormat,
  getRelayedKinds,
} from '../providers/openai/embedding-images'
import { readEmbeddings, toFormat, toUpstreamEmbedding } from '../providers/openai/embeddings'
import { readTaskType } from '../providers/task-type'
import { invalidAnswer } from '../providers/upstream-error'
import type { Candidate } from '../routing/candidate'
import type { Deadline } from '../upstream/deadline'
import {
  hasImage,
  isTokenInput,
  type EmbeddingInput,
  type EmbeddingItem,
  type EmbeddingRequest,
} from '../wire/embedding-request'
import type { Usage } from '../wire/usage'

/** Some of the inputs of one request. */
export interface EmbeddingBatch {
  deadline: Deadline
  inputs: EmbeddingInput
}

/** One embedding for each input, in order and in the requested encoding. */
export interface Embedded {
  embeddings: (number[] | string)[]
  usage: Usage
}

type Line = Pick<Candidate, 'provider' | 'model'>

const formatAt = ({ provider, model }: Line) =>
  getImageFormat(provider.options, model.upstreamModel)

/** The number of inputs that one request to a candidate takes. */
export function getBatchLimit({ provider, model }: Line, inputs: EmbeddingInput): number {
  const adapter = embeddingAdapterOf(provider)
  if (!adapter) return provider.options.embeddings.batchLimit
  const hasImages = !isTokenInput(inputs) && inputs.some(hasImage)
  return adapter.batchLimit(model.upstreamModel, hasImages)
}

/** Whether a candidate takes token ids as they are. */
export const takesTokens = ({ provider }: Pick<Candidate, 'provider'>): boolean =>
  !embeddingAdapterOf(provider) && provider.options.embeddings.tokenArrays

/** The kinds of input that a candidate takes. */
export const kindsFor = (line: Line): InputKinds =>
  embeddingAdapterOf(line.provider)?.takes(line.model.upstreamModel) ??
  getRelayedKinds(formatAt(line))

/** The URLs of images that a candidate does not fetch itself. */
export function findEmbeddingImageUrls(line: Line, inputs: readonly EmbeddingItem[]): string[] {
  const fetcher = embeddingAdapterOf(line.provider) ? 'gateway' : formatAt(line)
  return fetcher ? findAddressesToFetch(inputs, fetcher) : []
}

/** Sends one batch, relayed or written by an adapter. Throws `AttemptFailed`, and errors that are no failed attempt. */
export async function embed(
  attempt: RequestAttempt<EmbeddingRequest>,
  batch: EmbeddingBatch,
): Promise<Embedded> {
  const adapter = embeddingAdapterOf(attempt.candidate.provider)
  const { embeddings, usage } = await (adapter
    ? translate(attempt, adapter, batch)
    : relay(attempt, batch))
  return { embeddings, usage: usage ?? estimateOf(attempt, batch.inputs) }
}

/** Images of a model that are paid by the piece have no tokens. */
function estimateOf({ model }: RequestAttempt<EmbeddingRequest>, inputs: EmbeddingInput): Usage {
  return estimateInputs(inputs, { isPaidByImage: model.pricing?.image !== undefined })
}

const formatOf = ({ request }: RequestAttempt<EmbeddingRequest>) =>
  request.params.encoding_format ?? 'float'

function relay(attempt: RequestAttempt<EmbeddingRequest>, batch: EmbeddingBatch) {
  const { candidate } = attempt
  const { deadline, inputs } = batch
  const { upstreamModel } = attempt.model
  const { options } = candidate.provider
  const { url, deployment } = selectRelayAddress(candidate, upstreamModel, 'embeddings')
  const body = toUpstreamEmbedding(attempt.body, inputs, { upstreamModel, options })
  if (deployment !== undefined) body['model'] = deployment
  const path = pathOfFormat(getImageFormat(options, upstreamModel))
  const source = new AttemptSource(attempt, 'input')
  const isDropped = options.drop.includes(options.embeddings.dimensionsField)
  const width = isDropped ? undefined : requestedWidth(attempt.body)
  const read = (answer: unknown) => {
    const expectation = { count: inputs.length, format: formatOf(attempt) }
    const embeddings = readEmbeddings(answer, expectation, source)
    checkWidths(embeddings.embeddings, width, source)
    return embeddings
  }
  const request = { operation: 'embeddings', path, url, body } as const
  const estimate = () => estimateOf(attempt, inputs)
  return relayWhole(attempt, { request, source, deadline, estimate, read }, 'embeddings')
}

function translate(
  attempt: RequestAttempt<EmbeddingRequest>,
  adapter: EmbeddingAdapter,
  { deadline, inputs }: EmbeddingBatch,
) {
  const { body, model } = attempt
  // Token ids have become text again.
  const items = isTokenInput(inputs) ? [] : inputs
  const writtenRequest = adapter.request(items, {
    upstreamModel: model.upstreamModel,
    dimensions: attempt.request.params.dimensions ?? undefined,
    task: readTaskType(body),
  })
  const source = new AttemptSource(attempt, 'input')
  const read: WholeExchange<Omit<Embedded, 'usage'> & { usage: Usage | undefined }>['read'] = (
    answer,
    headers,
  ) => {
    const { embeddings, usage } = adapter.read({ body: answer, headers }, source)
    if (embeddings.length !== items.length) {
      throw invalidAnswer(source.provider, 'a response without all embeddings')
    }
    checkWidths(embeddings, requestedWidth(body), source)
    const format = formatOf(attempt)
    return { embeddings: embeddings.map((vector) => toFormat(vector, format) ?? vector), usage }
  }
  const request = { operation: 'embeddings', ...writtenRequest } as const
  const estimate = () => estimateOf(attempt, inputs)
  return translateWhole(attempt, { request, source, deadline, estimate, read }, adapter)
}
