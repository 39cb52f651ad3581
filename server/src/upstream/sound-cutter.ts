import type { EventCutter } from './event-cutter'

const endOfEvents = '[DONE]'

/** Passes the bytes of a sound on as they arrive, as binary strings: one character a byte. */
export class SoundCutter implements EventCutter {
  readonly heldLength = 0
  readonly heldBytes = 0

  push(bytes: Uint8Array): string[] {
    const sound = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
    // The end of a stream of events, which these bytes are not.
    return sound === endOfEvents ? [sound.slice(0, 1), sound.slice(1)] : [sound]
  }

  end(): string[] {
    return []
  }

  takeLife(): boolean {
    return false
  }
}
