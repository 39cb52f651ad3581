import type { Turn } from './job'
import { lostBy, promptUsage, TurnSource } from './relay'
import { embeddingAdapterOf } from '../providers/adapters'
import { relayedWayOf } from '../providers/chat-way'
import type { EmbeddingAdapter } from '../providers/embedding-adapter'
import { readEmbeddings, toFormat, toUpstreamEmbedding } from '../providers/openai/embeddings'
import { nonsense } from '../providers/upstream-error'
import type { Outgoing } from '../routing/attempt'
import type { Candidate } from '../routing/candidate'
import type { Deadline } from '../routing/deadline'
import { exchange } from '../routing/exchange'
import type { EmbeddingInput, EmbeddingRequest } from '../wire/embedding-request'
import type { Usage } from '../wire/usage'

/** Some of the inputs of one request. */
export interface Batch {
  deadline: Deadline
  inputs: EmbeddingInput
}

/** One embedding an input, in order and in the form that was asked for. */
export interface Embedded {
  embeddings: (number[] | string)[]
  usage: Usage
}

/** How many inputs one request to a candidate takes. */
export const batchLimitOf = ({ provider, model }: Pick<Candidate, 'provider' | 'model'>): number =>
  embeddingAdapterOf(provider)?.batchLimit(model.upstreamModel) ??
  provider.options.embeddings.batchLimit

/** Whether a candidate takes token ids as they are. */
export const takesTokens = ({ provider }: Pick<Candidate, 'provider'>): boolean =>
  !embeddingAdapterOf(provider) && provider.options.embeddings.tokenArrays

export const isTokens = (list: EmbeddingInput): list is readonly (readonly number[])[] =>
  typeof list[0] !== 'string'

/** Sends one batch, relayed or written by an adapter. Throws `AttemptFailed`, and what is no answer. */
export async function embed(turn: Turn<EmbeddingRequest>, batch: Batch): Promise<Embedded> {
  const adapter = embeddingAdapterOf(turn.candidate.provider)
  const { embeddings, usage } = await (adapter
    ? translated(turn, adapter, batch)
    : relayed(turn, batch))
  const { inputs } = batch
  return {
    embeddings,
    usage: usage ?? promptUsage({ input: inputs }, 0),
  }
}

const embedding = (turn: Turn<EmbeddingRequest>) => ({
  operation: 'embeddings' as const,
  source: new TurnSource(turn, 'input'),
})

const formatOf = ({ checked }: Turn<EmbeddingRequest>) => checked.request.encoding_format ?? 'float'

function relayed(turn: Turn<EmbeddingRequest>, { inputs, deadline }: Batch) {
  const { candidate } = turn
  const { upstreamModel } = turn.model
  const { options } = candidate.provider
  const { url, deployment } = relayedWayOf(candidate, upstreamModel, 'embeddings')
  const written = toUpstreamEmbedding(turn.body, inputs, { upstreamModel, options })
  if (deployment !== undefined) written['model'] = deployment
  const sent: Outgoing = { ...embedding(turn), url, body: written }
  const onLost = lostBy(turn, () => promptUsage({ input: inputs }, 0))
  return exchange({ turn, sent, deadline, onLost }, (answer) =>
    readEmbeddings(answer, { count: inputs.length, format: formatOf(turn) }, sent.source),
  )
}

function translated(turn: Turn<EmbeddingRequest>, adapter: EmbeddingAdapter, batch: Batch) {
  const { body, model } = turn
  const { request } = turn.checked
  const inputType = body['input_type']
  const texts = batch.inputs.filter((input) => typeof input === 'string')
  const written = adapter.request(texts, {
    upstreamModel: model.upstreamModel,
    dimensions: request.dimensions ?? undefined,
    inputType: typeof inputType === 'string' ? inputType : undefined,
  })
  const sent: Outgoing = { ...embedding(turn), ...written, failure: adapter.failure }
  const { source } = sent
  const { deadline } = batch
  const onLost = lostBy(turn, () => promptUsage({ input: texts }, 0))
  return exchange({ turn, sent, deadline, onLost }, (answer, _attempt, headers) => {
    const { embeddings, usage } = adapter.read({ body: answer, headers }, source)
    if (embeddings.length !== texts.length) {
      throw nonsense(source.provider, 'an answer without all embeddings')
    }
    const format = formatOf(turn)
    return { embeddings: embeddings.map((vector) => toFormat(vector, format) ?? vector), usage }
  })
}
