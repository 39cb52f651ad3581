import type { OpenStream, Reply } from './job'
import { ApiError } from '../errors'
import type { Ending } from '../metering/meter'
import { ClientGone, type ChunkStream } from '../wire/chunk-stream'

/**
 * Ends one request. Resolves with its cost in nano-dollars once that will be booked whatever happens,
 * rejects where it may not be: then the caller must not be told that all went well.
 */
export type Settle = (ending: Ending) => Promise<bigint>

/** How an error is written down. */
export function outcomeOf(thrown: unknown): string {
  if (thrown instanceof ClientGone) return 'cancelled'
  return thrown instanceof ApiError ? thrown.code : 'internal_error'
}

/** `end` on the first call only: a request ends once, in whatever way it is noticed first. */
export function once(end: Settle): Settle {
  let ended: Promise<bigint> | undefined
  return (ending) => (ended ??= end(ending))
}

/** A request that ends badly says so itself; that its end could not be written is told by `onLost`. */
export const quietly = (settling: Promise<bigint>) => void settling.catch(() => undefined)

/**
 * The reply as it is, with `settle` called when it ends: a whole one before it is sent, a stream
 * before its last chunk, when it breaks, when it never opens, and when the caller has gone, which
 * `signal` tells even where nobody reads any more.
 */
export async function settled(reply: Reply, settle: Settle, signal: AbortSignal): Promise<Reply> {
  if (reply.kind === 'whole') {
    const cost = await settle({ usage: reply.usage, outcome: 'ok' })
    return { ...reply, cost }
  }
  const opening = reply.opening.then(
    (opened) => settledStream(opened, settle, signal),
    (thrown: unknown) => {
      quietly(settle({ usage: undefined, outcome: outcomeOf(thrown) }))
      throw thrown
    },
  )
  // Whoever waits for it sees what it rejects with.
  opening.catch(() => undefined)
  return { ...reply, opening }
}

function settledStream(opened: OpenStream, settle: Settle, signal: AbortSignal): OpenStream {
  const { stream, usage } = opened
  const end = (outcome: string) => settle({ usage: usage(), outcome })
  const leave = () => quietly(end('cancelled'))
  if (signal.aborted) leave()
  else signal.addEventListener('abort', leave, { once: true })
  return { ...opened, stream: new SettledStream(stream, end) }
}

class SettledStream implements ChunkStream {
  readonly #stream: ChunkStream
  readonly #end: (outcome: string) => Promise<bigint>

  constructor(stream: ChunkStream, end: (outcome: string) => Promise<bigint>) {
    this.#stream = stream
    this.#end = end
  }

  get ended(): boolean {
    return this.#stream.ended
  }

  async read(): Promise<string[] | undefined> {
    try {
      const chunks = await this.#stream.read()
      if (!chunks || this.#stream.ended) await this.#end('ok')
      return chunks
    } catch (thrown) {
      quietly(this.#end(outcomeOf(thrown)))
      throw thrown
    }
  }

  cancel(reason: Error): void {
    this.#stream.cancel(reason)
    quietly(this.#end(outcomeOf(reason)))
  }
}
