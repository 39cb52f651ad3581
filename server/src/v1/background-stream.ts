import { framesAfter, lastNumberIn } from './background-events'
import type { StreamReply } from '../gateway/job'
import type { BackgroundStore, Owned } from '../stored-responses/background-store'
import { ClientGone, type ChunkStream } from '../wire/chunk-stream'
import type { EventWriter } from '../wire/event-writer'
import { pingFrame } from '../wire/sse'

/** How long until new events are looked for. */
const lookMs = 250

type Events = Pick<BackgroundStore, 'eventsAfter'>

/** The events of an answer in the background, on whatever node it is made: those that are kept, and new ones as they come. */
class BackgroundStream implements ChunkStream {
  readonly #events: Events
  readonly #reading: Reading
  #last: number
  #isOver = false
  #isEmpty = true
  #cancelled: Error | undefined

  constructor(events: Events, reading: Reading) {
    this.#events = events
    this.#reading = reading
    this.#last = reading.after
  }

  get ended(): boolean {
    return this.#isOver
  }

  async read(): Promise<string[] | undefined> {
    try {
      return await this.#next()
    } catch (thrown) {
      this.#reading.left?.()
      throw thrown
    }
  }

  async #next(): Promise<string[] | undefined> {
    for (;;) {
      if (this.#cancelled) throw this.#cancelled
      const found = await this.#events.eventsAfter(this.#reading.owned, this.#last)
      const frames = (found?.frames ?? []).flatMap((batch) => this.#new(batch))
      if (frames.length > 0) {
        this.#isEmpty = false
        return frames
      }
      if (found?.isRunning !== true) return this.#end()
      await Bun.sleep(lookMs)
    }
  }

  /** The frames of a batch that did not go out yet; some of it may be in the one before. */
  #new(batch: string): string[] {
    const frames = framesAfter(batch, this.#last)
    this.#last = Math.max(this.#last, lastNumberIn(batch))
    return frames
  }

  #end(): string[] | undefined {
    if (this.#isEmpty) {
      // A stream of nothing, or of one piece that is its end, would go out with a length.
      this.#isEmpty = false
      return [pingFrame]
    }
    this.#isOver = true
    this.#reading.left?.()
    return undefined
  }

  cancel(reason: Error): void {
    this.#cancelled = reason
    this.#reading.left?.()
  }
}

/** Frames are written already; what fails here ends the stream, and its client asks again. */
const asTheyAre: EventWriter = {
  ping: pingFrame,
  write: (frame) => frame,
  end: () => '',
  fail: () => '',
}

interface Reading {
  owned: Owned
  /** The number of the event behind which it begins. */
  after: number
  /** Called when it is not read any more; twice is harmless. */
  left?: () => void
}

/** The events of an answer, for who asked for them. */
export function backgroundReply(events: Events, reading: Reading): StreamReply {
  const stream = new BackgroundStream(events, reading)
  const leave = () => {
    stream.cancel(new ClientGone())
    return { rest: undefined, isFree: true, [Symbol.dispose]: () => undefined }
  }
  return {
    kind: 'stream',
    identity: { id: reading.owned.id, object: 'chat.completion.chunk', created: 0, model: '' },
    writer: asTheyAre,
    opening: Promise.resolve({ stream, provider: '', usage: () => undefined, leave }),
  }
}
