import { AnswerTooLong } from './http/answer'
import { HeldEvent, type LargeEvents } from './large-events'
import { maxAnswerBytes } from '../wire/answer'

/** The maximum length of the frames of a whole answer: each of them has little of it. */
const maxFramesLength = 4 * maxAnswerBytes

/** The frames of a stream that is read as a whole answer, in the memory budget of large events. */
export class CollectedFrames implements Disposable {
  readonly frames: string[] = []
  readonly #heldEvent: HeldEvent
  #length = 0
  #bytes = 0

  constructor(events: LargeEvents, owner: string) {
    this.#heldEvent = new HeldEvent(events, owner)
  }

  /** Throws `AnswerTooLong`, and as `LargeEvents.add`. */
  add(frame: string): void {
    this.frames.push(frame)
    this.#length += frame.length
    if (this.#length > maxFramesLength) {
      throw new AnswerTooLong('the frames of a whole answer are too long')
    }
    this.#bytes += bytesOf(frame)
    this.#heldEvent.resize(this.#bytes)
  }

  [Symbol.dispose](): void {
    this.#heldEvent.resize(0)
  }
}

/** The bytes of memory of a text: of one with characters beyond ASCII, two for each. */
const bytesOf = (text: string): number =>
  Buffer.byteLength(text) === text.length ? text.length : 2 * text.length
