import { nonsense, type ErrorSource } from '../providers/upstream-error'

/** What an owner has of the event loop. */
export interface LoopShare {
  /**
   * Counts milliseconds of work that was done: `useful` where somebody asked for it, `idle` where it serves
   * nobody. Undefined where more may follow at once, else resolves when it may. Throws an `ApiError`.
   */
  spend: (ms: number, kind: 'useful' | 'idle') => Promise<void> | undefined
}

/** The shares of all owners. */
export interface LoopShares {
  shareOf: (owner: string) => LoopShare
}

/** A piece of what arrived, in bytes: the most that is read before the clock is looked at. */
export const pieceBytes = 16 * 1024

/** Since the last event: longer than the longest event with whatever stands beside it. */
const maxBytesWithoutEvent = 2 * 1024 * 1024
/** Since the last event that said something. */
const maxBytesWithoutContent = 8 * 1024 * 1024
/** Of the whole stream, decompressed. */
const maxBytes = 1024 * 1024 * 1024
/** Work after which others have their turn, in milliseconds. */
const sliceMs = 2
/** What a piece costs beside reading it: its way in and out of this process. */
const pieceMs = 0.01
const byteMs = 2e-6
/** What a chunk costs on its way out: it is written to the log and to the caller. */
const chunkMs = 0.005

/** What came of a piece of a stream. */
interface Outcome {
  bytes: number
  events: number
  chunks: number
}

/**
 * The work that one upstream stream makes: counted in its owner's share, cut into slices between which the
 * event loop serves others, and bounded where it comes to nothing.
 */
export class StreamWork {
  readonly #share: LoopShare
  readonly #source: ErrorSource
  #startedAtMs = 0
  #sinceYieldMs = 0
  #bytes = 0
  #bytesWithoutEvent = 0
  #bytesWithoutContent = 0
  /** When more may be read. */
  #turn: Promise<void> | undefined
  /** Milliseconds so far. */
  ms = 0

  constructor(share: LoopShare, source: ErrorSource) {
    this.#share = share
    this.#source = source
  }

  /** Resolves when more may be read; undefined where that is at once. */
  takeTurn(): Promise<void> | undefined {
    const turn = this.#turn
    this.#turn = undefined
    return turn
  }

  get hasTurn(): boolean {
    return this.#turn !== undefined
  }

  begin(): void {
    this.#startedAtMs = performance.now()
  }

  /** Counts a piece that was read since `begin`. Throws an `ApiError` for what floods. */
  end({ bytes, events, chunks }: Outcome): void {
    const ms = performance.now() - this.#startedAtMs + pieceMs + bytes * byteMs + chunks * chunkMs
    this.ms += ms
    this.#sinceYieldMs += ms
    this.#count(bytes, events, chunks)
    this.#turn = this.#share.spend(ms, events > 0 ? 'useful' : 'idle')
    if (this.#sinceYieldMs < sliceMs) return
    this.#sinceYieldMs = 0
    this.#turn ??= new Promise((resolve) => void setImmediate(resolve))
  }

  /** Counts work that served nobody. Resolves when its owner may go on. */
  async waste(ms: number): Promise<void> {
    await this.#share.spend(ms, 'idle')
  }

  #count(bytes: number, events: number, chunks: number): void {
    this.#bytes += bytes
    this.#bytesWithoutEvent = events > 0 ? 0 : this.#bytesWithoutEvent + bytes
    this.#bytesWithoutContent = chunks > 0 ? 0 : this.#bytesWithoutContent + bytes
    const { provider } = this.#source
    if (
      this.#bytesWithoutEvent > maxBytesWithoutEvent ||
      this.#bytesWithoutContent > maxBytesWithoutContent
    ) {
      const mb = this.#bytesWithoutEvent > maxBytesWithoutEvent ? 2 : 8
      throw nonsense(provider, `${mb} MB of a stream that say nothing`)
    }
    if (this.#bytes > maxBytes) throw nonsense(provider, 'a stream of more than 1 GB')
  }
}
