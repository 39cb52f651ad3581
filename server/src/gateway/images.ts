import type { PricedAttempt, RequestAttempt, ValidatedRequest } from './attempt'
import { toRequestedForm } from './answer-images'
import type { Endpoint, EndpointRun } from './endpoint'
import { editForm, editFormToJson, maxEditBytes, variationForm } from './image-form'
import { ImageInputs } from './image-inputs'
import { orderOf, requestsFor } from './image-usage'
import { makeImages } from './make-images'
import { reportOmissions } from './omissions'
import type { FullReply, Reply } from './request'
import { createFailoverDeadline } from './request-deadline'
import { invalidRequest } from '../errors'
import { toImageNeed } from '../limits/media-need'
import { roughTokens, usualMediaTokens } from '../metering/estimate'
import { boundImages } from '../metering/image-volume'
import { pickLongTexts } from '../metering/long-texts'
import { toImageUsageBlock } from '../providers/openai/images'
import { streamImages } from './stream-images'
import type { Deadline } from '../upstream/deadline'
import {
  ImageEditRequest,
  ImageRequest,
  ImageVariationRequest,
  type AnyImageRequest,
} from '../wire/image-request'

type ImageAttempt = RequestAttempt<AnyImageRequest>

type PricedImages = PricedAttempt<ValidatedRequest<AnyImageRequest>>

/** The stages that requests for new and for changed images have in common. */
const sharedStages = {
  operation: 'images',
  priceKind: 'image',
  kinds: ['image'],
  // The limit of a model is its provider's matter.
  size: () => ({ textField: 'prompt' as const, output: undefined, texts: () => [], tokens: 0 }),
  volume: (attempt: PricedImages) =>
    boundImages(orderOf(attempt), attempt.candidate.model, requestsFor(attempt)),
  texts: ({ request }: PricedImages) => pickLongTexts([request.params.prompt ?? '']),
  mediaNeed: ({ params }: ValidatedRequest<AnyImageRequest>) => toImageNeed(params.n),
} as const

/** `POST /v1/images/generations`. */
export const images: Endpoint<typeof ImageRequest> = {
  ...sharedStages,
  schema: ImageRequest,
  maxBytes: 8 * 1024 * 1024,
  need: ({ prompt }) => ({ promptTokens: roughTokens(Buffer.byteLength(prompt)), answers: 0 }),
  run,
}

/** `POST /v1/images/edits`. */
export const imageEdits: Endpoint<typeof ImageEditRequest> = {
  ...sharedStages,
  schema: ImageEditRequest,
  maxBytes: maxEditBytes,
  form: editForm,
  formToJson: editFormToJson,
  need: ({ prompt, images: inputs }) => ({
    promptTokens: roughTokens(Buffer.byteLength(prompt)) + inputs.length * usualMediaTokens,
    answers: 0,
  }),
  run,
}

/** Fields that make a request another one than that for variations. */
const fieldsOfOthers = ['prompt', 'mask', 'stream']

/** Throws `invalid_request` for fields that variations have not. */
function rejectFieldsOfOthers(params: object): void {
  const values = new Map<string, unknown>(Object.entries(params))
  const field = fieldsOfOthers.find((name) => (values.get(name) ?? false) !== false)
  if (field === undefined) return
  const message = `${field}: variations have none. Changes of images are POST /v1/images/edits.`
  throw invalidRequest(field, 'not_allowed', message)
}

/** `POST /v1/images/variations`. */
export const imageVariations: Endpoint<typeof ImageVariationRequest> = {
  ...sharedStages,
  schema: ImageVariationRequest,
  maxBytes: maxEditBytes,
  form: variationForm,
  formToJson: editFormToJson,
  prepare: (params) => Promise.try(rejectFieldsOfOthers, params),
  need: () => ({ promptTokens: usualMediaTokens, answers: 0 }),
  run: runWhole,
}

async function run<Params extends AnyImageRequest>(failover: EndpointRun<Params>): Promise<Reply> {
  if (!failover.request.params.stream) return runWhole(failover)
  return streamImages(failover, new ImageInputs(failover.request.params))
}

async function runWhole<Params extends AnyImageRequest>(
  failover: EndpointRun<Params>,
): Promise<Reply> {
  const inputs = new ImageInputs(failover.request.params)
  const deadline = createFailoverDeadline(failover)
  return await failover.run({
    deadline,
    before: (attempt) => inputs.fetchFor(attempt, deadline.signal),
    attempt: (attempt) => answerWhole(attempt, { deadline, inputs }),
  })
}

/** Makes the images, and answers with all of them at once. */
async function answerWhole(
  attempt: ImageAttempt,
  { deadline, inputs }: { deadline: Deadline; inputs: ImageInputs },
): Promise<FullReply> {
  const heldMemory = new DisposableStack()
  try {
    const madeImages = await makeImages(attempt, { deadline, heldMemory, media: inputs.media })
    const { answer, usage } = madeImages
    const data = await toRequestedForm(answer.images, attempt, deadline.signal)
    return {
      kind: 'full',
      body: {
        created: Math.floor(Date.now() / 1000),
        ...answer.fields,
        model: attempt.model.id,
        data,
        usage: toImageUsageBlock(usage),
      },
      usage,
      provider: attempt.candidate.provider.key,
      omittedFields: reportOmissions(attempt, madeImages.omittedFields),
      heldMemory,
    }
  } catch (thrown) {
    heldMemory.dispose()
    throw thrown
  }
}
