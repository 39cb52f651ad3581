/** Cuts the bytes of a stream, however they arrive, into the `data` of its events. */
export interface EventCutter {
  /** The events that these bytes complete. */
  push(bytes: Uint8Array): string[]
  /** The rest when the bytes have ended. */
  end(): string[]
  /** The length of the event that is still incomplete. */
  readonly heldLength: number
  /** The bytes of memory that it takes. */
  readonly heldBytes: number
  /** Returns whether anything whole came since the last call that is no event, such as a comment. */
  takeLife(): boolean
}
