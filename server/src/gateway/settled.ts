import type { OpenStream, Reply } from './job'
import type { ChunkStream } from '../wire/chunk-stream'
import type { Usage } from '../wire/usage'

/** Ends one request: told what it used, or undefined where nothing was answered. */
export type Settle = (usage: Usage | undefined) => void

/** `end` on the first call only: a request ends once, in whatever way it is noticed first. */
export function once(end: Settle): Settle {
  let isOver = false
  return (usage) => {
    if (isOver) return
    isOver = true
    end(usage)
  }
}

/**
 * The reply as it is, with `settle` called when it ends: a whole one at once, a stream after its last
 * chunk, when it breaks, when it never opens, and when the caller has gone, which `signal` tells even
 * where nobody reads any more.
 */
export function settled(reply: Reply, settle: Settle, signal: AbortSignal): Reply {
  if (reply.kind === 'whole') {
    settle(reply.usage)
    return reply
  }
  const opening = reply.opening.then(
    (opened) => settledStream(opened, settle, signal),
    (thrown: unknown) => {
      settle(undefined)
      throw thrown
    },
  )
  return { ...reply, opening }
}

function settledStream(opened: OpenStream, settle: Settle, signal: AbortSignal): OpenStream {
  const { stream, usage } = opened
  const end = () => settle(usage())
  if (signal.aborted) end()
  else signal.addEventListener('abort', end, { once: true })
  return { ...opened, stream: new SettledStream(stream, end) }
}

class SettledStream implements ChunkStream {
  readonly #stream: ChunkStream
  readonly #end: () => void

  constructor(stream: ChunkStream, end: () => void) {
    this.#stream = stream
    this.#end = end
  }

  get ended(): boolean {
    return this.#stream.ended
  }

  async read(): Promise<string[] | undefined> {
    try {
      const chunks = await this.#stream.read()
      if (!chunks || this.#stream.ended) this.#end()
      return chunks
    } catch (thrown) {
      this.#end()
      throw thrown
    }
  }

  cancel(reason: Error): void {
    this.#stream.cancel(reason)
    this.#end()
  }
}
