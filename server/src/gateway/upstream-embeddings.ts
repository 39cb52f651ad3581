import type { RequestAttempt } from './request'
import { lostBy, TurnSource } from './relay'
import { estimateInputs } from '../metering/estimate'
import { embeddingAdapterOf } from '../providers/adapters'
import { selectRelayRoute } from '../providers/chat-route'
import type { EmbeddingAdapter } from '../providers/embedding-adapter'
import type { InputKinds } from '../providers/embedding-inputs'
import {
  findAddressesToFetch,
  getImageFormat,
  pathOfFormat,
  getRelayedKinds,
} from '../providers/openai/embedding-images'
import { readEmbeddings, toFormat, toUpstreamEmbedding } from '../providers/openai/embeddings'
import { readTaskType } from '../providers/task-type'
import { nonsense } from '../providers/upstream-error'
import type { OutgoingRequest } from '../upstream/attempt'
import type { Candidate } from '../routing/candidate'
import type { Deadline } from '../upstream/deadline'
import { exchange } from '../upstream/exchange'
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
  turn: RequestAttempt<EmbeddingRequest>,
  batch: EmbeddingBatch,
): Promise<Embedded> {
  const adapter = embeddingAdapterOf(turn.candidate.provider)
  const { embeddings, usage } = await (adapter
    ? translated(turn, adapter, batch)
    : relayed(turn, batch))
  const { inputs } = batch
  return {
    embeddings,
    usage: usage ?? estimateOf(turn, inputs),
  }
}

/** Images of a model that are paid by the piece have no tokens. */
function estimateOf({ model }: RequestAttempt<EmbeddingRequest>, inputs: EmbeddingInput): Usage {
  return estimateInputs(inputs, { isPaidByImage: model.pricing?.image !== undefined })
}

const embedding = (turn: RequestAttempt<EmbeddingRequest>) => ({
  operation: 'embeddings' as const,
  source: new TurnSource(turn, 'input'),
})

const formatOf = ({ checked }: RequestAttempt<EmbeddingRequest>) =>
  checked.request.encoding_format ?? 'float'

function relayed(turn: RequestAttempt<EmbeddingRequest>, { inputs, deadline }: EmbeddingBatch) {
  const { candidate } = turn
  const { upstreamModel } = turn.model
  const { options } = candidate.provider
  const { url, deployment } = selectRelayRoute(candidate, upstreamModel, 'embeddings')
  const written = toUpstreamEmbedding(turn.body, inputs, { upstreamModel, options })
  if (deployment !== undefined) written['model'] = deployment
  const path = pathOfFormat(getImageFormat(options, upstreamModel))
  const sent: OutgoingRequest = { ...embedding(turn), ...(path && { path }), url, body: written }
  const onLost = lostBy(turn, () => estimateOf(turn, inputs))
  return exchange({ turn, sent, deadline, onLost }, (answer) =>
    readEmbeddings(answer, { count: inputs.length, format: formatOf(turn) }, sent.source),
  )
}

function translated(
  turn: RequestAttempt<EmbeddingRequest>,
  adapter: EmbeddingAdapter,
  batch: EmbeddingBatch,
) {
  const { body, model } = turn
  const { request } = turn.checked
  const { deadline, inputs } = batch
  // Token ids have become text again.
  const items = isTokenInput(inputs) ? [] : inputs
  const written = adapter.request(items, {
    upstreamModel: model.upstreamModel,
    dimensions: request.dimensions ?? undefined,
    task: readTaskType(body),
  })
  const sent: OutgoingRequest = { ...embedding(turn), ...written, failure: adapter.failure }
  const { source } = sent
  const onLost = lostBy(turn, () => estimateOf(turn, inputs))
  return exchange({ turn, sent, deadline, onLost }, (answer, _attempt, headers) => {
    const { embeddings, usage } = adapter.read({ body: answer, headers }, source)
    if (embeddings.length !== items.length) {
      throw nonsense(source.provider, 'an answer without all embeddings')
    }
    const format = formatOf(turn)
    return { embeddings: embeddings.map((vector) => toFormat(vector, format) ?? vector), usage }
  })
}
