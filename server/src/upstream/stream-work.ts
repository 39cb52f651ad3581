import { smallLength } from './large-events'
import { systemClock, type Clock } from '../platform/clock'
import { invalidAnswer, type ErrorSource } from '../providers/upstream-error'
import { yieldToLoop } from '../wire/json-slices'

/** An owner's share of the event loop. */
export interface LoopShare {
  /**
   * Counts milliseconds of work: `useful` for a client's request, `idle` where it serves no client. Undefined where
   * more may follow at once, else resolves when it may. Throws an `ApiError`.
   */
  spend: (ms: number, kind: 'useful' | 'idle') => Promise<void> | undefined
  /** Counts work after which nothing follows that could wait. */
  note: (ms: number, kind: 'useful' | 'idle') => void
}

/** The shares of all owners. */
export interface LoopShares {
  shareOf: (owner: string) => LoopShare
}

/** A piece of the received bytes: the most that is read before the next clock reading. */
export const pieceBytes = 16 * 1024

/** Since the last event, beside the bytes of one that is still incomplete. */
const maxBytesWithoutEvent = 2 * 1024 * 1024
/** Since the last event with content; beyond it, events may repeat what was said so often. */
const maxBytesWithoutContent = 8 * 1024 * 1024
const maxRepeats = 4
/** A character that is kept may have been so many bytes. */
const bytesPerCharacter = 3
/** Of the whole stream, decompressed. */
const maxBytes = 1024 * 1024 * 1024
/** Work after which others have their turn, in milliseconds. */
const sliceMs = 2
/** The cost of a piece beside reading it: its way in and out of this process. */
const pieceMs = 0.01
const byteMs = 2e-6
/** The cost of a chunk on its way out: it is written to the log and to the caller. */
const chunkMs = 0.005

/** The results of a piece of a stream. */
interface Outcome {
  bytes: number
  events: number
  chunks: number
  /** The length of the event that is still incomplete. */
  heldLength: number
}

/**
 * The work for one upstream stream: counted in its owner's share, cut into slices between which the event loop serves
 * others, and bounded where it yields nothing.
 */
export class StreamWork {
  readonly #share: LoopShare
  readonly #source: ErrorSource
  readonly #clock: Clock
  #startedAtMs = 0
  #sinceYieldMs = 0
  #bytes = 0
  #bytesWithoutEvent = 0
  #bytesWithoutContent = 0
  #heldLength = 0
  /** Resolves when more may be read. */
  #yielding: Promise<void> | undefined
  /** Milliseconds so far. */
  ms = 0

  constructor(share: LoopShare, source: ErrorSource, clock: Clock = systemClock) {
    this.#share = share
    this.#source = source
    this.#clock = clock
  }

  /** Resolves when more may be read; undefined where that is at once. */
  takeYield(): Promise<void> | undefined {
    const turn = this.#yielding
    this.#yielding = undefined
    return turn
  }

  get mustYield(): boolean {
    return this.#yielding !== undefined
  }

  begin(): void {
    this.#startedAtMs = this.#clock.monotonicMs()
  }

  /** Counts a piece that was read since `begin`. Throws an `ApiError` for a flood. */
  end(outcome: Outcome): void {
    const { bytes, events, chunks, heldLength } = outcome
    const ms = this.#pieceMs(bytes) + chunks * chunkMs
    this.ms += ms
    this.#sinceYieldMs += ms
    const isUseful = events > 0 || heldLength > Math.max(this.#heldLength, smallLength)
    this.#count(outcome)
    this.#yielding = this.#share.spend(ms, isUseful ? 'useful' : 'idle')
    if (this.#sinceYieldMs < sliceMs) return
    this.#sinceYieldMs = 0
    this.#yielding ??= yieldToLoop()
  }

  /** Counts a piece that was read since `begin`, with which the stream has failed: it served no client. */
  fail(bytes: number): void {
    const ms = this.#pieceMs(bytes)
    this.ms += ms
    this.#share.note(ms, 'idle')
  }

  #pieceMs(bytes: number): number {
    return this.#clock.monotonicMs() - this.#startedAtMs + pieceMs + bytes * byteMs
  }

  /** Counts work that served no client. Resolves when its owner may continue. */
  async spendIdle(ms: number): Promise<void> {
    await this.#share.spend(ms, 'idle')
  }

  #count({ bytes, events, chunks, heldLength }: Outcome): void {
    const keptBytes = Math.max(0, heldLength - this.#heldLength) * bytesPerCharacter
    this.#heldLength = heldLength
    this.#bytes += bytes
    this.#bytesWithoutEvent =
      events > 0 ? 0 : this.#bytesWithoutEvent + Math.max(0, bytes - keptBytes)
    this.#bytesWithoutContent = chunks > 0 ? 0 : this.#bytesWithoutContent + bytes
    const { provider } = this.#source
    if (this.#bytesWithoutEvent > maxBytesWithoutEvent || this.#saysNothing) {
      const mb = this.#bytesWithoutEvent > maxBytesWithoutEvent ? 2 : 8
      throw invalidAnswer(provider, `${mb} MB of a stream without content`)
    }
    if (this.#bytes > maxBytes) throw invalidAnswer(provider, 'a stream of more than 1 GB')
  }

  /** A large event is judged once it is complete: it may have content. */
  get #saysNothing(): boolean {
    if (this.#bytesWithoutContent <= maxBytesWithoutContent || this.#heldLength > smallLength)
      return false
    const contentBytes = this.#bytes - this.#bytesWithoutContent
    return this.#bytesWithoutContent > maxBytesWithoutContent + maxRepeats * contentBytes
  }
}
