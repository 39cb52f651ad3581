import { checkDimensions } from './fit-check'
import type { Endpoint, RunnableRequest, Reply, RequestAttempt } from './request'
import { createJobDeadline } from './relay'
import { RemoteImages } from './remote-images'
import {
  findEmbeddingImageUrls,
  getBatchLimit,
  embed,
  kindsFor,
  takesTokens,
  type EmbeddingBatch,
  type Embedded,
} from './upstream-embeddings'
import { invalidRequest, unavailable } from '../errors'
import { estimateInputTokens } from '../metering/estimate'
import { boundEmbedding } from '../metering/volume'
import { checkInputs } from '../providers/embedding-inputs'
import type { MediaData } from '../providers/media'
import { AttemptFailed } from '../upstream/attempt'
import {
  EmbeddingRequest,
  hasImage,
  isDataUrl,
  isImage,
  isTokenInput,
  partsOf,
  toInputs,
  type EmbeddingInput,
  type EmbeddingItem,
} from '../wire/embedding-request'
import { addUsage, toPromptUsageBlock } from '../wire/usage'

const decodingMs = 5000
/** The number of batches of one request that run at the same time. */
const atOnce = 4

/** `POST /v1/embeddings`. */
export const embeddings: Endpoint<typeof EmbeddingRequest> = {
  schema: EmbeddingRequest,
  operation: 'embeddings',
  priced: 'embedding',
  limitBytes: 8 * 1024 * 1024,
  kinds: ['embedding'],
  // The limit of an embedding model is per input, and enforced by its provider.
  size: () => ({ textField: 'input', output: undefined, texts: () => [], tokens: 0 }),
  need: ({ input }, bytes) => ({
    promptTokens: estimateInputTokens(bytes, () => toInputs(input)),
    answers: 0,
  }),
  volume({ candidate, checked }) {
    const inputs = toInputs(checked.request.input)
    return boundEmbedding(inputs, {
      model: candidate.model,
      decodes: !takesTokens(candidate),
      requests: Math.ceil(inputs.length / getBatchLimit(candidate, inputs)),
    })
  },
  run,
}

async function run(job: RunnableRequest<EmbeddingRequest>): Promise<Reply> {
  const { model, body, request } = job.checked
  checkDimensions(model, body)
  let inputs = toInputs(request.input)
  const deadline = createJobDeadline(job)
  const images = new RemoteImages(placesOf(inputs))
  return await job.ask({
    deadline,
    before: async (turn) => {
      inputs = await acceptable(inputs, turn)
      if (isTokenInput(inputs)) return
      checkInputs(inputs, kindsFor(turn.candidate))
      const addresses = findEmbeddingImageUrls(turn.candidate, inputs)
      await images.fetchAddresses(addresses, turn, deadline.signal)
      if (addresses.length > 0) inputs = inputs.map((item) => withData(item, images.media))
    },
    attempt: async (turn) => {
      const answers = await embedAll(turn, { deadline, inputs })
      const data = answers
        .flatMap((answer) => answer.embeddings)
        .map((embedding, index) => ({ object: 'embedding', index, embedding }))
      const usage = answers.map((answer) => answer.usage).reduce(addUsage)
      const block = toPromptUsageBlock(usage)
      const body = { object: 'list', data, model: turn.model.id, usage: block }
      return { kind: 'whole', body, usage, provider: turn.candidate.provider.key }
    },
  })
}

/** Splits a request into batches of the provider's size, a few at a time. */
async function embedAll(
  turn: RequestAttempt<EmbeddingRequest>,
  { deadline, inputs }: EmbeddingBatch,
): Promise<Embedded[]> {
  const batchLimit = getBatchLimit(turn.candidate, inputs)
  const answers: Embedded[] = []
  for (let start = 0; start < inputs.length; start += batchLimit * atOnce) {
    const running = Array.from({ length: atOnce }, (_, k) => {
      const from = start + k * batchLimit
      return inputs.slice(from, from + batchLimit)
    })
    const batches = running.filter((batch) => batch.length > 0)
    const embedding = batches.map((batch) => embed(turn, { deadline, inputs: batch }))
    const results = await Promise.allSettled(embedding)
    for (const result of results) if (result.status === 'fulfilled') answers.push(result.value)
    const failed = results.find(({ status }) => status === 'rejected')
    if (failed?.status !== 'rejected') continue
    for (const { usage } of answers) turn.unanswered.answered(usage)
    // The answered batches are billed: no other candidate gets all of it again.
    const isBilled = answers.length > 0 && failed.reason instanceof AttemptFailed
    throw isBilled ? failed.reason.error : failed.reason
  }
  return answers
}

/** Each image URL, and the first field that contains it. */
function placesOf(inputs: EmbeddingInput): ReadonlyMap<string, string> {
  const places = new Map<string, string>()
  if (isTokenInput(inputs)) return places
  for (const [index, item] of inputs.entries()) {
    for (const part of partsOf(item)) {
      if (!isImage(part) || isDataUrl(part.image) || places.has(part.image)) continue
      places.set(part.image, `input.${index}`)
    }
  }
  return places
}

/** An input with data in place of the URLs that were fetched. */
function withData(item: EmbeddingItem, media: ReadonlyMap<string, MediaData>): EmbeddingItem {
  if (!hasImage(item)) return item
  const parts = partsOf(item).map((part) => {
    const fetched = isImage(part) ? media.get(part.image) : undefined
    return fetched ? { image: `data:${fetched.mimeType};base64,${fetched.base64}` } : part
  })
  return { parts }
}

/** Token ids go to providers that take them; for the others they become text again, off the event loop. */
async function acceptable(
  inputs: EmbeddingInput,
  { candidate, checked }: RequestAttempt<EmbeddingRequest>,
): Promise<EmbeddingInput> {
  if (!isTokenInput(inputs) || takesTokens(candidate)) return inputs
  const decoded = await checked.ports.counter.decode(inputs, { deadlineMs: decodingMs })
  if (!decoded) throw unavailable()
  if (Array.isArray(decoded)) return decoded
  throw invalidRequest(
    `input.${decoded.input}`,
    'out_of_range',
    `input: ${decoded.unknownToken} is no token id of cl100k_base.`,
  )
}
