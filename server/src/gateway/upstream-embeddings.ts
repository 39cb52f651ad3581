import type { Job } from './job'
import { sourceOf } from './relay'
import { estimatePrompt, estimateUsage } from '../metering/estimate'
import { embeddingAdapterOf } from '../providers/adapters'
import { relayedWayOf } from '../providers/chat-way'
import type { EmbeddingAdapter } from '../providers/embedding-adapter'
import { readEmbeddings, toFormat, toUpstreamEmbedding } from '../providers/openai/embeddings'
import { nonsense } from '../providers/upstream-error'
import { exchange, type Attempt } from '../routing/attempt'
import type { Candidate } from '../routing/candidate'
import type { Deadline } from '../routing/deadline'
import type { EmbeddingInput, EmbeddingRequest } from '../wire/embedding-request'
import type { Usage } from '../wire/usage'

/** Some of the inputs of one request, for one candidate. */
export interface Batch {
  candidate: Candidate
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
export async function embed(job: Job<EmbeddingRequest>, batch: Batch): Promise<Embedded> {
  const adapter = embeddingAdapterOf(batch.candidate.provider)
  const { embeddings, usage } = await (adapter
    ? translated(job, adapter, batch)
    : relayed(job, batch))
  const { inputs } = batch
  return {
    embeddings,
    usage: usage ?? estimateUsage({ promptTokens: estimatePrompt({ input: inputs }) }),
  }
}

const attemptOf = (job: Job<EmbeddingRequest>, { candidate, deadline }: Batch) => ({
  candidate,
  deadline,
  operation: 'embeddings' as const,
  source: sourceOf(job, candidate, 'input'),
  egress: job.ports.egress,
  credentials: job.ports.credentials,
  hops: job.call.hops,
})

const formatOf = ({ request }: Job<EmbeddingRequest>) => request.encoding_format ?? 'float'

async function relayed(job: Job<EmbeddingRequest>, batch: Batch) {
  const { inputs, candidate } = batch
  const { upstreamModel } = job.model
  const { options } = candidate.provider
  const { url, deployment } = relayedWayOf(candidate, upstreamModel, 'embeddings')
  const written = toUpstreamEmbedding(job.body, inputs, { upstreamModel, options })
  if (deployment !== undefined) written['model'] = deployment
  const attempt: Attempt = { ...attemptOf(job, batch), url, body: written }
  const { body } = await exchange(attempt)
  return readEmbeddings(body, { count: inputs.length, format: formatOf(job) }, attempt.source)
}

async function translated(job: Job<EmbeddingRequest>, adapter: EmbeddingAdapter, batch: Batch) {
  const { request, body, model } = job
  const inputType = body['input_type']
  const texts = batch.inputs.filter((input) => typeof input === 'string')
  const written = adapter.request(texts, {
    upstreamModel: model.upstreamModel,
    dimensions: request.dimensions ?? undefined,
    inputType: typeof inputType === 'string' ? inputType : undefined,
  })
  const attempt: Attempt = { ...attemptOf(job, batch), ...written, failure: adapter.failure }
  const { embeddings, usage } = adapter.read(await exchange(attempt), attempt.source)
  if (embeddings.length !== texts.length) {
    throw nonsense(attempt.source.provider, 'an answer without all embeddings')
  }
  const format = formatOf(job)
  return { embeddings: embeddings.map((vector) => toFormat(vector, format) ?? vector), usage }
}
