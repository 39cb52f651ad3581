import { readImageUsage, toImageUsageBlock } from './images'
import type { RelayedStream } from './relayed-stream'
import { readEvent } from '../event'
import type { ImageAnswer } from '../image-adapter'
import type { RelayOptions } from '../provider'
import { invalidAnswer, type ErrorSource } from '../upstream-error'
import { toImageFrame, type ImageEventPrefix } from '../../wire/image-events'
import type { JsonObject } from '../../wire/json-body'
import { isEventName } from '../../wire/sse'
import { addUsage } from '../../wire/add-usage'
import { noUsage, type Usage } from '../../wire/usage'

/** The facts that the reading of a stream of images needs. */
export interface ImageStreamFacts {
  source: ErrorSource
  /** The number of requested images. */
  count: number
  options: Pick<RelayOptions, 'images'>
  /** Counts an image that was completed: its own tokens where the provider reports them. */
  countImage: (image: ImageAnswer) => Usage
  /** Estimates the use of so many images that have not come. */
  estimate: (count: number) => Usage
}

/** Relays the events of a stream of images as frames, and counts the images that were completed. */
export class ImageStream implements RelayedStream {
  readonly #facts: ImageStreamFacts
  #usage: Usage | undefined
  #completed = 0
  #hasEvents = false
  #isOver = false

  constructor(facts: ImageStreamFacts) {
    this.#facts = facts
  }

  get hasOutput(): boolean {
    return this.#hasEvents
  }

  get isFinished(): boolean {
    return this.#completed >= this.#facts.count
  }

  isComplete(): boolean {
    return this.isFinished
  }

  /** Unfinished images are nothing that a failure leaves to its caller. */
  hasContent(): boolean {
    return this.#completed > 0
  }

  next(data: string): string[] {
    const { source } = this.#facts
    const event = readEvent(data, source)
    const { type } = event
    if (!isEventName(type)) throw invalidAnswer(source.provider, 'an event without a type')
    this.#hasEvents = true
    if (type.endsWith('.completed')) this.#complete(event)
    // A line break would end the data.
    return [toImageFrame(type, /[\r\n]/.test(data) ? JSON.stringify(event) : data)]
  }

  end(): string[] {
    if (this.#completed === 0) {
      throw invalidAnswer(this.#facts.source.provider, 'a stream that ended without an image')
    }
    this.#isOver = true
    return []
  }

  /** Images that the provider still draws are paid when its client leaves. */
  usage(): Usage {
    const { count, estimate } = this.#facts
    const missingImages = this.#isOver ? 0 : count - this.#completed
    if (missingImages <= 0) return this.#usage ?? noUsage
    const ofMissing = estimate(missingImages)
    return this.#usage ? addUsage(this.#usage, ofMissing) : ofMissing
  }

  #complete({ size, quality, b64_json: data, usage }: JsonObject): void {
    const { count, options, countImage } = this.#facts
    if (this.#completed >= count) return
    this.#completed += 1
    const image = countImage({
      images: [typeof data === 'string' ? { b64_json: data } : {}],
      usage: readImageUsage(usage, options),
      ...(typeof size === 'string' && { size }),
      ...(typeof quality === 'string' && { quality }),
    })
    this.#usage = this.#usage ? addUsage(this.#usage, image) : image
  }
}

/** The events that a whole answer stands for, in place of a stream: each image is complete at once. */
export function toImageEvents(answer: ImageAnswer, prefix: ImageEventPrefix): JsonObject[] {
  const { images, usage, fields } = answer
  return images.map((image, index) => ({
    type: `${prefix}.completed`,
    created_at: Math.floor(Date.now() / 1000),
    ...fields,
    ...image,
    // The counts of all images together are with the last.
    ...(usage && { usage: toImageUsageBlock(index === images.length - 1 ? usage : noUsage) }),
  }))
}
