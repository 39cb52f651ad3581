import { framesAfter, framesIn, lastNumberIn } from './background-events'
import type { StreamReply } from '../gateway/job'
import type { BackgroundStore, Owned } from '../stored-responses/background-store'
import { ClientGone, type ChunkStream } from '../wire/chunk-stream'
import type { EventWriter } from '../wire/event-writer'
import { pingFrame } from '../wire/sse'

/** How long until new events are looked for. */
const lookMs = 250

/** The events of an answer in the background, on whatever node it is made: those that are kept, and new ones as they come. */
class BackgroundStream implements ChunkStream {
  readonly #store: Pick<BackgroundStore, 'find' | 'eventsAfter'>
  readonly #owned: Owned
  #last: number
  #isOver = false
  #isEmpty = true
  #cancelled: Error | undefined

  constructor(store: Pick<BackgroundStore, 'find' | 'eventsAfter'>, owned: Owned, after: number) {
    this.#store = store
    this.#owned = owned
    this.#last = after
  }

  get ended(): boolean {
    return this.#isOver
  }

  async read(): Promise<string[] | undefined> {
    for (;;) {
      if (this.#cancelled) throw this.#cancelled
      // Asked first: the last events are written before its end.
      const standing = await this.#store.find(this.#owned)
      const frames = await this.#next()
      if (frames.length > 0) {
        this.#isEmpty = false
        return frames
      }
      if (standing?.isRunning !== true) return this.#end()
      await Bun.sleep(lookMs)
    }
  }

  #end(): string[] | undefined {
    if (this.#isEmpty) {
      // A stream of nothing, or of one piece that is its end, would go out with a length.
      this.#isEmpty = false
      return [pingFrame]
    }
    this.#isOver = true
    return undefined
  }

  async #next(): Promise<string[]> {
    const batches = await this.#store.eventsAfter(this.#owned, this.#last)
    const [first, ...others] = batches
    if (first === undefined) return []
    const frames = [...framesAfter(first, this.#last), ...others.flatMap(framesIn)]
    this.#last = Math.max(this.#last, lastNumberIn(batches.at(-1) ?? ''))
    return frames
  }

  cancel(reason: Error): void {
    this.#cancelled = reason
  }
}

/** Frames are written already; what fails here ends the stream, and its client asks again. */
const asTheyAre: EventWriter = {
  ping: pingFrame,
  write: (frame) => frame,
  end: () => '',
  fail: () => '',
}

/** The events after the one of this number, for who asked for them. */
export function backgroundReply(
  store: Pick<BackgroundStore, 'find' | 'eventsAfter'>,
  owned: Owned,
  after: number,
): StreamReply {
  const stream = new BackgroundStream(store, owned, after)
  const leave = () => {
    stream.cancel(new ClientGone())
    return { rest: undefined, isFree: true, [Symbol.dispose]: () => undefined }
  }
  return {
    kind: 'stream',
    identity: { id: owned.id, object: 'chat.completion.chunk', created: 0, model: '' },
    writer: asTheyAre,
    opening: Promise.resolve({ stream, provider: '', usage: () => undefined, leave }),
  }
}
