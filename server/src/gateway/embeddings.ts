import { answerBatches } from './answer-batches'
import type { RequestAttempt } from './attempt'
import { checkDimensions } from './fit-check'
import type { Endpoint, EndpointRun } from './endpoint'
import { reportOmissions } from './omissions'
import type { Reply } from './request'
import { createFailoverDeadline } from './request-deadline'
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
import { pickLongTexts } from '../metering/long-texts'
import { boundEmbedding } from '../metering/volume'
import { checkInputs } from '../providers/embedding-inputs'
import { checkWidths } from '../providers/embedding-width'
import type { MediaData } from '../providers/media'
import {
  EmbeddingRequest,
  hasImage,
  isDataUrl,
  isImage,
  isTokenInput,
  partsOf,
  textsOf,
  toInputs,
  type EmbeddingInput,
  type EmbeddingItem,
} from '../wire/embedding-request'
import { addUsage } from '../wire/add-usage'
import { toPromptUsageBlock } from '../wire/usage'

const decodingMs = 5000

/** `POST /v1/embeddings`. */
export const embeddings: Endpoint<typeof EmbeddingRequest> = {
  schema: EmbeddingRequest,
  operation: 'embeddings',
  priceKind: 'embedding',
  maxBytes: 8 * 1024 * 1024,
  kinds: ['embedding'],
  // The limit of an embedding model is per input, and enforced by its provider.
  size: () => ({ textField: 'input', output: undefined, texts: () => [], tokens: 0 }),
  need: ({ input }, bytes) => ({
    promptTokens: estimateInputTokens(bytes, () => toInputs(input)),
    answers: 0,
  }),
  volume({ candidate, request }) {
    const inputs = toInputs(request.params.input)
    return boundEmbedding(inputs, {
      model: candidate.model,
      decodes: !takesTokens(candidate),
      requests: Math.ceil(inputs.length / getBatchLimit(candidate, inputs)),
    })
  },
  texts: ({ request }) => {
    const inputs = toInputs(request.params.input)
    return isTokenInput(inputs) ? [] : pickLongTexts(textsOf(inputs))
  },
  run,
}

async function run(failover: EndpointRun<EmbeddingRequest>): Promise<Reply> {
  const { model, body, params } = failover.request
  checkDimensions(model, body)
  let inputs = toInputs(params.input)
  const deadline = createFailoverDeadline(failover)
  const images = new RemoteImages(imageParams(inputs))
  return await failover.run({
    deadline,
    before: async (attempt) => {
      inputs = await toAcceptedInputs(inputs, attempt)
      if (isTokenInput(inputs)) return
      checkInputs(inputs, kindsFor(attempt.candidate))
      const addresses = findEmbeddingImageUrls(attempt.candidate, inputs)
      await images.fetchAddresses(addresses, attempt, deadline.signal)
      if (addresses.length > 0) inputs = inputs.map((item) => withData(item, images.media))
    },
    attempt: async (attempt) => {
      const answers = await embedAll(attempt, { deadline, inputs })
      const firsts = answers.flatMap((answer) => answer.embeddings.slice(0, 1))
      checkWidths(firsts, undefined, { provider: attempt.candidate.provider.key })
      const data = answers
        .flatMap((answer) => answer.embeddings)
        .map((embedding, index) => ({ object: 'embedding', index, embedding }))
      const usage = answers.map((answer) => answer.usage).reduce(addUsage)
      const block = toPromptUsageBlock(usage)
      const list = { object: 'list', data, model: attempt.model.id, usage: block }
      const provider = attempt.candidate.provider.key
      return { kind: 'full', body: list, usage, provider, omittedFields: reportOmissions(attempt) }
    },
  })
}

/** Splits a request into batches of the provider's size. */
function embedAll(
  attempt: RequestAttempt<EmbeddingRequest>,
  { deadline, inputs }: EmbeddingBatch,
): Promise<Embedded[]> {
  const batchLimit = getBatchLimit(attempt.candidate, inputs)
  const batches = Array.from({ length: Math.ceil(inputs.length / batchLimit) }, (_, k) =>
    inputs.slice(k * batchLimit, (k + 1) * batchLimit),
  )
  return answerBatches(attempt, batches, (batch) => embed(attempt, { deadline, inputs: batch }))
}

/** Each image URL, and the first field that contains it. */
function imageParams(inputs: EmbeddingInput): ReadonlyMap<string, string> {
  const params = new Map<string, string>()
  if (isTokenInput(inputs)) return params
  for (const [index, item] of inputs.entries()) {
    for (const part of partsOf(item)) {
      if (!isImage(part) || isDataUrl(part.image) || params.has(part.image)) continue
      params.set(part.image, `input.${index}`)
    }
  }
  return params
}

/** An input with data in place of the URLs that were fetched. */
function withData(item: EmbeddingItem, media: ReadonlyMap<string, MediaData>): EmbeddingItem {
  if (!hasImage(item)) return item
  const parts = partsOf(item).map((part) => {
    const fetchedImage = isImage(part) ? media.get(part.image) : undefined
    return fetchedImage
      ? { image: `data:${fetchedImage.mimeType};base64,${fetchedImage.base64}` }
      : part
  })
  return { parts }
}

/** Token ids go to providers that take them; for the others they become text again, off the event loop. */
async function toAcceptedInputs(
  inputs: EmbeddingInput,
  { candidate, request }: RequestAttempt<EmbeddingRequest>,
): Promise<EmbeddingInput> {
  if (!isTokenInput(inputs) || takesTokens(candidate)) return inputs
  const decoded = await request.ports.counter.decode(inputs, { deadlineMs: decodingMs })
  if (!decoded) throw unavailable()
  if (Array.isArray(decoded)) return decoded
  throw invalidRequest(
    `input.${decoded.input}`,
    'out_of_range',
    `input: ${decoded.unknownToken} is not a token id of cl100k_base.`,
  )
}
