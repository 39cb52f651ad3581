import { Periodic } from '../../platform/periodic'

/** A worker says so each second; its launcher replaces one that is silent. */
export const aliveEveryMs = 1000

export interface WorkerWatchOptions {
  /** The checks, one a second, without a message until a worker that listened counts as hung. */
  maxSilent: number
  /** The same for a worker that starts: it may have a journal to book. */
  maxStarting: number
  onHung: () => void
}

/**
 * Counts the seconds in which a worker sent nothing. It counts its own checks instead of reading a clock, so that a
 * launcher that was suspended together with its workers does not kill them.
 */
export class WorkerWatch implements Disposable {
  readonly #options: WorkerWatchOptions
  readonly #checking: Periodic
  #silent = 0
  #isListening = false

  constructor(options: WorkerWatchOptions) {
    this.#options = options
    this.#checking = new Periodic({ intervalMs: aliveEveryMs, run: () => this.check() })
  }

  /** The worker has sent a message. */
  onMessage(): void {
    this.#silent = 0
  }

  onListening(): void {
    this.#silent = 0
    this.#isListening = true
  }

  /** Counts a second; calls `onHung` once when there were too many. */
  check(): void {
    const { maxSilent, maxStarting, onHung } = this.#options
    this.#silent += 1
    if (this.#silent < (this.#isListening ? maxSilent : maxStarting)) return
    this.#checking.stop()
    onHung()
  }

  [Symbol.dispose](): void {
    this.#checking.stop()
  }
}
