import type { StopSignal } from './http/stop-signal'

/** The tokens of output that a running stream may have. */
export interface OutputAllowance {
  readonly tokens: number
  /** Extends it. False, or a promise of it, where no more is available. Never rejects. */
  extend: () => boolean | Promise<boolean>
}

/** Bounds the work for a stream whose client has disconnected. */
export interface Drain {
  /** Reports work: its duration, and its number of bytes. May end the stream's deadline. */
  work: (ms: number, bytes: number) => void
}

/** Reports the work of draining an answer. */
export class DrainWork {
  readonly #drain: () => Drain | undefined
  readonly #deadline: StopSignal
  /** The time at which the last bytes came, and their number. */
  #receivedAtMs: number | undefined
  #bytes = 0

  constructor(drain: (() => Drain | undefined) | undefined, deadline: StopSignal) {
    this.#drain = drain ?? (() => undefined)
    this.#deadline = deadline
  }

  /**
   * The last bytes have been processed. Throws where that was too much work, as reading buffered bytes waits for
   * nothing.
   */
  reportWork(): void {
    if (this.#receivedAtMs === undefined) return
    this.#drain()?.work(performance.now() - this.#receivedAtMs, this.#bytes)
    if (this.#deadline.aborted) throw this.#deadline.reason
  }

  /** More bytes have come. */
  onReceived(bytes: Uint8Array | undefined): void {
    if (!this.#drain()) return
    this.#receivedAtMs = performance.now()
    this.#bytes = bytes?.length ?? 0
  }
}
