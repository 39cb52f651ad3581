import type { OpenStream, StreamReply } from './request'
import { ApiError } from '../errors'
import type { RequestLog } from '../request-logs/request-log'
import type { Ending } from '../metering/meter'
import { ClientGone, type ChunkStream } from '../wire/chunk-stream'
import { withTimeout } from '../platform/with-timeout'

/**
 * Ends one request. Resolves with its cost in nano-dollars once its booking is certain; rejects where it may not be
 * booked: then the caller must not get a success.
 */
export type Settle = (ending: Ending) => Promise<bigint>

/** The recorded form of an error. */
export function toOutcome(thrown: unknown): string {
  if (thrown instanceof ClientGone) return 'cancelled'
  return thrown instanceof ApiError ? thrown.code : 'internal_error'
}

/** The end of a request that failed. */
export const endingOf = (thrown: unknown): Pick<Ending, 'outcome' | 'error'> => ({
  outcome: toOutcome(thrown),
  error: thrown instanceof ApiError ? thrown : undefined,
})

const writtenMs = 1000

/** Waits until an end is recorded, so that a caller who learns of it finds it; not for long. */
export const written = async (settling: Promise<bigint>): Promise<void> => {
  await withTimeout(settling, writtenMs).catch(() => undefined)
}

/** Settles without waiting: a failed request has an error of its own, and `onLost` reports an end that was lost. */
export const quietly = (settling: Promise<bigint>) => void settling.catch(() => undefined)

/** Receives the progress of a request. */
export interface StreamObserver {
  settle: Settle
  /** The client of a stream has disconnected; its use may be known later. Twice is harmless. */
  left: () => void
  /** The first chunk of a stream has come. */
  opened: () => void
  /** Sees the output of a stream. */
  log: Pick<RequestLog, 'opened' | 'seen'>
  /** Aborts when the client has disconnected, even where the stream is no longer read. */
  signal: AbortSignal
}

/**
 * Passes a stream through and calls `settle` when it ends: before its last chunk, when it breaks, when it never
 * opens, and when nothing more comes of it after the client has disconnected.
 */
export function settleOnEnd(reply: StreamReply, parting: StreamObserver): StreamReply {
  const { signal } = parting
  const left = () => parting.left()
  if (signal.aborted) left()
  else signal.addEventListener('abort', left, { once: true })
  const opening = reply.opening.then(
    (opened) => {
      parting.opened()
      parting.log.opened()
      return settledStream(opened, parting)
    },
    async (thrown: unknown) => {
      await written(parting.settle({ usage: undefined, ...endingOf(thrown) }))
      throw thrown
    },
  )
  // The reader of the stream sees the rejection.
  opening.catch(() => undefined)
  return { ...reply, opening }
}

function settledStream(opened: OpenStream, parting: StreamObserver): OpenStream {
  const { signal } = parting
  const stream = new SettledStream(opened, parting)
  const leave = () => stream.leave()
  if (signal.aborted) leave()
  else signal.addEventListener('abort', leave, { once: true })
  return { ...opened, stream }
}

type Parted = Pick<Ending, 'outcome' | 'error'>

const fine: Parted = { outcome: 'ok' }

class SettledStream implements ChunkStream {
  readonly #opened: OpenStream
  readonly #parting: StreamObserver
  /** Set when the client has disconnected: then only this settles. */
  #departure: Promise<bigint> | undefined
  /** The provider's answer is drained without its client. */
  #goesOn = false

  constructor(opened: OpenStream, parting: StreamObserver) {
    this.#opened = opened
    this.#parting = parting
  }

  get ended(): boolean {
    return this.#opened.stream.ended
  }

  async read(): Promise<string[] | undefined> {
    try {
      const { stream, isTold = false } = this.#opened
      const chunks = await stream.read()
      if (chunks) this.#parting.log.seen(chunks, isTold)
      if (!chunks || this.ended) await this.#end(fine)
      return chunks
    } catch (thrown) {
      const departure = this.#part(endingOf(thrown))
      if (!this.#goesOn) await written(departure)
      throw thrown
    }
  }

  cancel(reason: Error): void {
    if (reason instanceof ClientGone) return this.leave()
    this.#opened.stream.cancel(reason)
    quietly(this.#end(endingOf(reason)))
  }

  /** The client has disconnected. A stream that finished just then is a finished one. */
  leave(): void {
    if (this.ended) return quietly(this.#end(fine))
    void this.#part({ outcome: 'cancelled' })
  }

  #part(ending: Parted): Promise<bigint> {
    if (this.#departure) return this.#departure
    this.#departure = this.#depart(ending)
    quietly(this.#departure)
    this.#parting.left()
    return this.#departure
  }

  async #depart(ending: Parted): Promise<bigint> {
    const { usage, leave } = this.#opened
    using left = leave()
    this.#goesOn = left.rest !== undefined
    if (left.rest) await left.rest
    const { isFree } = left
    return await this.#parting.settle({ usage: usage(), ...ending, isFree })
  }

  #end(ending: Parted): Promise<bigint> {
    return this.#departure ?? this.#parting.settle({ usage: this.#opened.usage(), ...ending })
  }
}
