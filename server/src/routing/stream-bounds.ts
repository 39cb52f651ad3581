import type { Stop } from '../egress/stop-signal'

/** The tokens of output that a running stream may have. */
export interface OutputAllowance {
  readonly tokens: number
  /** Makes it more. False, or a promise of it, where no more can be had. Never rejects. */
  extend: () => boolean | Promise<boolean>
}

/** Bounds the work for a stream whose caller has gone. */
export interface Drain {
  /** Told of work that was done: how long, and for how many bytes. May end the stream's deadline. */
  work: (ms: number, bytes: number) => void
}

/** Tells the work that it takes to read an answer on. */
export class DrainWork {
  readonly #drain: () => Drain | undefined
  readonly #deadline: Stop
  /** When the last bytes came, and how many. */
  #receivedAtMs: number | undefined
  #bytes = 0

  constructor(drain: (() => Drain | undefined) | undefined, deadline: Stop) {
    this.#drain = drain ?? (() => undefined)
    this.#deadline = deadline
  }

  /** What came last has been looked at. Throws where it was too much: what was received before is not waited for. */
  tell(): void {
    if (this.#receivedAtMs === undefined) return
    this.#drain()?.work(performance.now() - this.#receivedAtMs, this.#bytes)
    if (this.#deadline.aborted) throw this.#deadline.reason
  }

  /** More has come. */
  note(bytes: Uint8Array | undefined): void {
    if (!this.#drain()) return
    this.#receivedAtMs = performance.now()
    this.#bytes = bytes?.length ?? 0
  }
}
