import type { Endpoint, Job, Reply } from './job'
import { sourceOf, wholeDeadline } from './relay'
import { invalidRequest, unavailable } from '../errors'
import { estimatePrompt, estimateUsage, roughTokens } from '../metering/estimate'
import { embeddingVolume } from '../metering/volume'
import { readEmbeddings, toUpstreamEmbedding } from '../providers/openai/embeddings'
import { exchange } from '../routing/attempt'
import type { Candidate } from '../routing/candidate'
import type { Deadline } from '../routing/deadline'
import { dispatch } from '../routing/dispatch'
import { EmbeddingRequest, toInputs, type EmbeddingInput } from '../wire/embedding-request'
import { addUsage, toPromptUsageBlock } from '../wire/usage'

const decodingMs = 5000
/** Batches of one request that are under way at the same time. */
const atOnce = 4

/** `POST /v1/embeddings`. */
export const embeddings: Endpoint<typeof EmbeddingRequest> = {
  schema: EmbeddingRequest,
  operation: 'embeddings',
  priced: 'embedding',
  limitBytes: 8 * 1024 * 1024,
  kinds: ['embedding'],
  // The limit of an embedding model is per input, and its provider's to judge.
  size: () => ({ textField: 'input', output: undefined, texts: () => [], tokens: 0 }),
  need: (_request, bytes) => ({ promptTokens: roughTokens(bytes), answers: 0 }),
  volume: ({ body, candidates, request }) => {
    const options = candidates.map(({ provider }) => provider.options.embeddings)
    const batchLimit = Math.min(...options.map((it) => it.batchLimit))
    return embeddingVolume(body, {
      decodes: options.some((it) => !it.tokenArrays),
      requests: Math.ceil(toInputs(request.input).length / batchLimit),
    })
  },
  run,
}

async function run(job: Job<EmbeddingRequest>): Promise<Reply> {
  checkDimensions(job)
  using deadline = wholeDeadline(job)
  return await dispatch(
    job.candidates,
    async (candidate) => {
      const { provider } = candidate
      const inputs = await acceptable(toInputs(job.request.input), candidate, job)
      // Only now: what is refused before goes to no provider.
      await job.meter.begin(candidate)
      const { batchLimit } = provider.options.embeddings
      const answers: Awaited<ReturnType<typeof embed>>[] = []
      for (let start = 0; start < inputs.length; start += batchLimit * atOnce) {
        const running = Array.from({ length: atOnce }, (_, k) => {
          const from = start + k * batchLimit
          return inputs.slice(from, from + batchLimit)
        })
        const batches = running.filter((batch) => batch.length > 0)
        const embedded = batches.map((batch) => embed(job, { candidate, deadline, batch }))
        answers.push(...(await Promise.all(embedded)))
      }
      const data = answers
        .flatMap((answer) => answer.embeddings)
        .map((embedding, index) => ({ object: 'embedding', index, embedding }))
      const usage = answers.map((answer) => answer.usage).reduce(addUsage)
      const block = toPromptUsageBlock(usage)
      const body = { object: 'list', data, model: job.model.id, usage: block }
      return { kind: 'whole', body, usage, provider: provider.key }
    },
    () => Promise.resolve(),
  )
}

interface Batch {
  candidate: Candidate
  deadline: Deadline
  batch: EmbeddingInput
}

async function embed(job: Job<EmbeddingRequest>, { candidate, deadline, batch }: Batch) {
  const { options } = candidate.provider
  const source = sourceOf(job, candidate, 'input')
  const { upstreamModel } = job.model
  const body = toUpstreamEmbedding(job.body, batch, { upstreamModel, options })
  const { egress } = job.ports
  const answer = await exchange({
    candidate,
    operation: 'embeddings',
    body,
    deadline,
    source,
    egress,
    hops: job.call.hops,
  })
  const format = job.request.encoding_format ?? 'float'
  const read = readEmbeddings(answer, { count: batch.length, format }, source)
  const estimate = () => estimateUsage({ promptTokens: estimatePrompt({ input: batch }) })
  return { ...read, usage: read.usage ?? estimate() }
}

/** Token ids go to who takes them; for the others they become text again, off the event loop. */
async function acceptable(
  inputs: EmbeddingInput,
  { provider }: Candidate,
  { ports }: Job<EmbeddingRequest>,
): Promise<EmbeddingInput> {
  if (!isTokens(inputs) || provider.options.embeddings.tokenArrays) return inputs
  const decoded = await ports.counter.decode(inputs, { deadlineMs: decodingMs })
  if (!decoded) throw unavailable()
  if (Array.isArray(decoded)) return decoded
  throw invalidRequest(
    `input.${decoded.input}`,
    'out_of_range',
    `input: ${decoded.unknownToken} is no token id of cl100k_base.`,
  )
}

const isTokens = (list: EmbeddingInput): list is readonly (readonly number[])[] =>
  typeof list[0] !== 'string'

function checkDimensions({ request, model }: Job<EmbeddingRequest>): void {
  const asked = request.dimensions
  if (!asked || model.dimensions === null || asked <= model.dimensions) return
  throw invalidRequest(
    'dimensions',
    'out_of_range',
    `dimensions: "${model.id}" has ${model.dimensions} at most.`,
  )
}
