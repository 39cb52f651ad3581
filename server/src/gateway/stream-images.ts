import { AttemptSource, identityOf } from './answer-facts'
import type { RequestAttempt } from './attempt'
import type { EndpointRun } from './endpoint'
import { identified } from './identify-request'
import type { ImageInputs } from './image-inputs'
import { countImages, estimateOrder, orderOf } from './image-usage'
import { needsWholeImages, openMadeImages } from './made-images'
import { writeRelayedImages, writeTranslatedImages } from './make-images'
import { reportOmissions } from './omissions'
import { openStream } from './open-stream'
import type { Reply } from './request'
import { ImageStream, toImageEvents } from '../providers/openai/image-stream'
import { readImages } from '../providers/openai/images'
import { imageAdapterOf } from '../providers/adapters'
import { toCallerError } from '../providers/upstream-error'
import type { ChatProtocol } from '../upstream/protocol/protocol'
import { ImageEventWriter } from '../wire/image-events'
import type { AnyImageRequest } from '../wire/image-request'

type ImageAttempt = RequestAttempt<AnyImageRequest>

/** Streams images: their events as they come, or of a provider that has no stream each image once it is made. */
export function streamImages<Params extends AnyImageRequest>(
  failover: EndpointRun<Params>,
  inputs: ImageInputs,
): Reply {
  const identity = identityOf(failover.request, 'chat.completion.chunk')
  const opening = openStream(failover, {
    before: (attempt) => inputs.fetchFirst(attempt),
    openWhole: (attempt) =>
      needsWholeImages(attempt) ? openMadeImages(failover, attempt, inputs) : undefined,
    protocol: (attempt) => toProtocol(attempt, inputs),
    relay: (attempt, { source }) => {
      const { model } = attempt
      const order = orderOf(attempt)
      return new ImageStream({
        source,
        count: order.count,
        options: attempt.candidate.provider.options,
        countImage: (image) => countImages(image, order, model),
        estimate: (count) => estimateOrder({ ...order, count }, model),
      })
    },
    // All of it is in the hold: no image is cut.
    allowance: () => undefined,
    lostUsage: (attempt) => estimateOrder(orderOf(attempt), attempt.model),
  })
  return { kind: 'stream', identity, writer: new ImageEventWriter(), opening }
}

/** The protocol of an attempt, whose events are relayed as frames. */
function toProtocol(attempt: ImageAttempt, { media }: ImageInputs): ChatProtocol {
  const source = new AttemptSource(attempt, 'prompt')
  const { count } = orderOf(attempt)
  const { options } = attempt.candidate.provider
  const adapter = imageAdapterOf(attempt.candidate.provider)
  const writtenRequest = adapter
    ? writeTranslatedImages(attempt, { adapter, count, media })
    : writeRelayedImages(attempt, media)
  const request = adapter
    ? writtenRequest.request
    : identified(writtenRequest.request, 'images', attempt)
  return {
    request,
    source,
    omitted: reportOmissions(attempt, writtenRequest.omittedFields),
    framing: 'sse',
    isEncoded: true,
    streamsOnly: false,
    callerNames: undefined,
    collect: undefined,
    replaceRefused: () => false,
    toError: (refusal) =>
      adapter ? adapter.toError(refusal, source) : toCallerError(refusal, source),
    toEvents: (answer) =>
      toImageEvents(
        adapter ? adapter.read(answer, source) : readImages(answer, { count, options }, source),
        attempt.request.params.images ? 'image_edit' : 'image_generation',
      ),
    stream: unused,
    complete: unused,
  }
}

/** Streams of images are not read as chats. */
function unused(): never {
  throw new Error('no chat was requested')
}
