import { framesAfter, lastNumberIn } from './background-events'
import type { StreamReply } from '../gateway/request'
import type { BackgroundStore, Owned } from '../stored-responses/background-store'
import { ClientDisconnected, type ChunkStream } from '../wire/chunk-stream'
import type { EventWriter } from '../wire/event-writer'
import { pingFrame } from '../wire/sse'

/** The interval of polls for new events. */
const lookMs = 250

type Events = Pick<BackgroundStore, 'eventsAfter'>

/**
 * The events of a background response, on whichever node it runs: stored ones first, then new ones as they arrive.
 */
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

  get isEnded(): boolean {
    return this.#isOver
  }

  async read(): Promise<string[] | undefined> {
    try {
      return await this.#next()
    } catch (thrown) {
      this.#reading.onClose?.()
      throw thrown
    }
  }

  async #next(): Promise<string[] | undefined> {
    for (;;) {
      if (this.#cancelled) throw this.#cancelled
      const next = await this.#events.eventsAfter(this.#reading.owned, this.#last)
      const frames = (next?.frames ?? []).flatMap((batch) => this.#new(batch))
      if (frames.length > 0) {
        this.#isEmpty = false
        return frames
      }
      if (next?.isRunning !== true) return this.#end()
      await Bun.sleep(lookMs)
    }
  }

  /** Returns the frames of a batch that were not sent yet; a batch may overlap the one before. */
  #new(batch: string): string[] {
    const frames = framesAfter(batch, this.#last)
    this.#last = Math.max(this.#last, lastNumberIn(batch))
    return frames
  }

  #end(): string[] | undefined {
    if (this.#isEmpty) {
      // The runtime would send an empty stream, or one of a single final piece, with a content length.
      this.#isEmpty = false
      return [pingFrame]
    }
    this.#isOver = true
    this.#reading.onClose?.()
    return undefined
  }

  cancel(reason: Error): void {
    this.#cancelled = reason
    this.#reading.onClose?.()
  }
}

/** Frames are already encoded; a failure ends the stream, and its client reconnects. */
const passthroughWriter: EventWriter = {
  // An event would have a number, after which its reader might ask for the rest.
  keepAlive: () => pingFrame,
  write: (frame) => frame,
  end: () => '',
  fail: () => '',
}

interface Reading {
  owned: Owned
  /** The number of the event after which it begins. */
  after: number
  /** Called when the reader has gone; twice is harmless. */
  onClose?: () => void
}

/** Replies with the events of a response. */
export function backgroundReply(events: Events, reading: Reading): StreamReply {
  const stream = new BackgroundStream(events, reading)
  const detach = () => {
    stream.cancel(new ClientDisconnected())
    return { rest: undefined, isFree: true, [Symbol.dispose]: () => undefined }
  }
  return {
    kind: 'stream',
    identity: { id: reading.owned.id, object: 'chat.completion.chunk', created: 0, model: '' },
    writer: passthroughWriter,
    opening: Promise.resolve({
      stream,
      provider: '',
      usage: () => undefined,
      usageAfter: () => undefined,
      detach,
    }),
  }
}
