import { toErrorChunk, type Identity } from './answer'
import { doneFrame, frame, pingFrame } from './sse'
import type { ApiError } from '../errors'

/**
 * Makes the server-sent events of one answer out of its chunks, in the client's format. It returns whole
 * frames, or empty text. After `end` or `fail` nothing follows.
 */
export interface EventWriter {
  /** Returns a frame that keeps a silent connection open; it goes out at once, perhaps before the first event. */
  keepAlive(): string
  /**
   * The frames written last go out once this has resolved; undefined where they need not wait. Never
   * rejects.
   */
  readonly pendingWrite?: Promise<void> | undefined
  /** The frames for one element that a `ChunkStream` gave. */
  write(chunk: string): string
  /**
   * Receives frames that a provider wrote in the client's format, where those of `fail` have to continue
   * from them. Returns the frames to send in their place, where these differ.
   */
  follow?(frames: string): string | undefined
  /** The last frames of an answer that is whole. */
  end(): string
  /** The last frames of one that failed after it had begun, perhaps before its first chunk. */
  fail(error: ApiError, requestId: string): string
}

/**
 * Writes a stream whose chunks are whole frames in the client's format: it adds only Tollgate's own
 * events.
 */
export class FrameWriter implements EventWriter {
  readonly #writer: EventWriter

  constructor(writer: EventWriter) {
    this.#writer = writer
  }

  keepAlive(): string {
    return this.#writer.keepAlive()
  }

  get pendingWrite(): Promise<void> | undefined {
    return this.#writer.pendingWrite
  }

  write(chunk: string): string {
    return this.#writer.follow?.(chunk) ?? chunk
  }

  end(): string {
    return ''
  }

  fail(error: ApiError, requestId: string): string {
    return this.#writer.fail(error, requestId)
  }
}

/** The events of the OpenAI format: chunks as they are, then `[DONE]`. Source: contract 4.3. */
export class ChunkWriter implements EventWriter {
  readonly #identity: Identity

  constructor(identity: Identity) {
    this.#identity = identity
  }

  keepAlive(): string {
    return pingFrame
  }

  write(chunk: string): string {
    return frame(chunk)
  }

  end(): string {
    return doneFrame
  }

  /** Without `[DONE]`, so that no client takes it for success. */
  fail(error: ApiError, requestId: string): string {
    return frame(toErrorChunk(this.#identity, error, requestId))
  }
}
