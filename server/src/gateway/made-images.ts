import { toRequestedForm } from './answer-images'
import type { RequestAttempt } from './attempt'
import type { EndpointRun } from './endpoint'
import type { ImageInputs } from './image-inputs'
import { requestsFor } from './image-usage'
import { makeImages } from './make-images'
import { reportOmissions } from './omissions'
import type { OpenStream } from './request'
import { createFailoverDeadline } from './request-deadline'
import { imageAdapterOf } from '../providers/adapters'
import { toImageEvents } from '../providers/openai/image-stream'
import type { ChunkStream } from '../wire/chunk-stream'
import { toImageFrame } from '../wire/image-events'
import type { AnyImageRequest } from '../wire/image-request'

type ImageAttempt = RequestAttempt<AnyImageRequest>

/** Whether the images of an attempt come from several requests to its provider, or from tasks: neither is a stream. */
export const needsWholeImages = (attempt: ImageAttempt): boolean => {
  const { provider } = attempt.candidate
  const isTask = imageAdapterOf(provider)?.makesTasks?.(attempt.model.upstreamModel) === true
  return isTask || requestsFor(attempt) > 1
}

/** Makes the images of an attempt whole, then opens a stream of their events. Rejects as `makeImages`. */
export async function openMadeImages<Params extends AnyImageRequest>(
  failover: EndpointRun<Params>,
  attempt: ImageAttempt,
  inputs: ImageInputs,
): Promise<OpenStream> {
  const heldMemory = new DisposableStack()
  using deadline = createFailoverDeadline(failover)
  try {
    const madeImages = await makeImages(attempt, { deadline, heldMemory, media: inputs.media })
    const { answer, usage } = madeImages
    const images = await toRequestedForm(answer.images, attempt, deadline.signal)
    const prefix = attempt.request.params.images ? 'image_edit' : 'image_generation'
    const events = toImageEvents({ ...answer, images, usage }, prefix)
    const frames = events.map((event) => toImageFrame(`${prefix}.completed`, JSON.stringify(event)))
    const stream = new MadeImages(frames, heldMemory)
    return {
      stream,
      provider: attempt.candidate.provider.key,
      isEncoded: true,
      omittedFields: reportOmissions(attempt, madeImages.omittedFields),
      // All of them are made, and paid, whatever the client still reads.
      usage: () => usage,
      usageAfter: () => usage,
      detach: () => ({ rest: undefined, isFree: false, [Symbol.dispose]: () => stream.cancel() }),
    }
  } catch (thrown) {
    heldMemory.dispose()
    throw thrown
  }
}

/** The events of images that are made, one at a time. */
class MadeImages implements ChunkStream {
  readonly #frames: string[]
  readonly #heldMemory: DisposableStack

  constructor(frames: string[], heldMemory: DisposableStack) {
    this.#frames = frames
    this.#heldMemory = heldMemory
  }

  get isEnded(): boolean {
    return this.#frames.length === 0
  }

  read(): Promise<string[] | undefined> {
    const frame = this.#frames.shift()
    if (this.isEnded) this.#heldMemory.dispose()
    return Promise.resolve(frame === undefined ? undefined : [frame])
  }

  cancel(): void {
    this.#frames.length = 0
    this.#heldMemory.dispose()
  }
}
