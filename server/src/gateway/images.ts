import type { RequestAttempt } from './attempt'
import { toRequestedForm } from './answer-images'
import type { Endpoint, EndpointRun } from './endpoint'
import { orderOf, requestsFor } from './image-usage'
import { makeImages } from './make-images'
import { reportOmissions } from './omissions'
import type { FullReply, Reply } from './request'
import { createFailoverDeadline } from './request-deadline'
import { servesKind } from '../catalog/served-kinds'
import { roughTokens } from '../metering/estimate'
import { boundImages } from '../metering/image-volume'
import { pickLongTexts } from '../metering/long-texts'
import { toImageUsageBlock } from '../providers/openai/images'
import { unsupported } from '../providers/unsupported-fields'
import { streamImages } from './stream-images'
import type { Deadline } from '../upstream/deadline'
import { ImageRequest } from '../wire/image-request'

type ImageAttempt = RequestAttempt<ImageRequest>

/** `POST /v1/images/generations`. */
export const images: Endpoint<typeof ImageRequest> = {
  schema: ImageRequest,
  operation: 'images',
  priceKind: 'image',
  maxBytes: 8 * 1024 * 1024,
  kinds: ['image'],
  // The limit of a model is its provider's matter.
  size: () => ({ textField: 'prompt', output: undefined, texts: () => [], tokens: 0 }),
  need: ({ prompt }) => ({ promptTokens: roughTokens(Buffer.byteLength(prompt)), answers: 0 }),
  volume: (attempt) => boundImages(orderOf(attempt), attempt.candidate.model, requestsFor(attempt)),
  texts: ({ request }) => pickLongTexts([request.params.prompt]),
  run,
}

async function run(failover: EndpointRun<ImageRequest>): Promise<Reply> {
  if (failover.request.params.stream) {
    return streamImages(failover, async (attempt) => checkStream(attempt))
  }
  const deadline = createFailoverDeadline(failover)
  return await failover.run({
    deadline,
    before: async (attempt) => checkImages(attempt),
    attempt: (attempt) => answerWhole(attempt, deadline),
  })
}

/** Throws `invalid_request` where a candidate does not take the request. */
function checkImages({ candidate: { provider } }: ImageAttempt): void {
  if (!servesKind(provider, 'image')) {
    throw unsupported('model', `model: ${provider.name} does not serve images.`)
  }
}

/** Throws as `checkImages`, and for what takes several requests to the provider. */
function checkStream(attempt: ImageAttempt): void {
  checkImages(attempt)
  if (requestsFor(attempt) === 1) return
  throw unsupported(
    'n',
    'n: this model makes fewer images at once. Send the request without stream.',
  )
}

/** Makes the images, and answers with all of them at once. */
async function answerWhole(attempt: ImageAttempt, deadline: Deadline): Promise<FullReply> {
  const held = new DisposableStack()
  try {
    const made = await makeImages(attempt, { deadline, held })
    const { answer, usage } = made
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
      omittedFields: reportOmissions(attempt, made.omitted),
      held,
    }
  } catch (thrown) {
    held.dispose()
    throw thrown
  }
}
