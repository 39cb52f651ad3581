/**
 * A running stream of chunks, pulled: nothing is read from the provider before the consumer reads. Each
 * chunk is JSON text, and `read` returns all that arrived together.
 */
export interface ChunkStream {
  /** Undefined after a proper end. Rejects with the error that broke the stream. */
  read(): Promise<string[] | undefined>
  /** Nothing is left to read: the previous result of `read` was the last. */
  readonly isEnded: boolean
  /** Ends the stream and cancels the provider's at once. Repeated calls are harmless. */
  cancel(reason: Error): void
}

/** The caller closed the connection, or stopped reading. */
export class ClientDisconnected extends Error {
  override readonly name = 'ClientGone'
}
