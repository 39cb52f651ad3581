import { BodyQueue } from './body-queue'
import { systemClock, type Clock } from '../platform/clock'

const usual = {
  /** The most forms that are read at once, as fast as they arrive. */
  maxForms: 2,
  /** A turn ends when its sender has sent nothing for this long. */
  silentMs: 20,
  /** While others wait, a turn lasts at most this long, plus one second for each of these bytes, and at most so many. */
  graceMs: 250,
  bytesPerSecond: 4 << 20,
  maxBytes: 32 << 20,
}

interface Options extends Partial<typeof usual> {
  clock?: Clock
}

/** A form that waits for its turn, as the queue of bodies orders it: none has a part of anything. */
interface Waiting {
  share: { owner: string; bytes: number }
  admit: () => void
}

/**
 * The turns in which forms are read. The runtime keeps about a megabyte of a form that is not read, and another one
 * from its first read on: so all but a very large form are read to their end before the next one begins, and owners
 * alternate. A sender that is slower than the disk leaves nothing to keep, and its turn to others.
 */
export class FormTurns {
  readonly #limits: typeof usual
  readonly clock: Clock
  readonly #waiting = new BodyQueue<Waiting>()
  #forms = 0

  constructor({ clock = systemClock, ...limits }: Options = {}) {
    this.clock = clock
    this.#limits = { ...usual, ...limits }
  }

  get silentMs(): number {
    return this.#limits.silentMs
  }

  /** Opens the turns of one form. They must be disposed of. */
  open(owner: string): FormTurn {
    return new FormTurn(owner, this)
  }

  /** Takes a turn. Returns undefined where there is one, else resolves when there is. */
  take(owner: string): Promise<void> | undefined {
    if (this.#forms < this.#limits.maxForms) {
      this.#forms += 1
      return undefined
    }
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#waiting.add({ share: { owner, bytes: 0 }, admit: resolve })
    return promise
  }

  giveBack(): void {
    this.#forms -= 1
    const [next] = this.#waiting.inOrder()
    if (!next) return
    this.#waiting.served(next)
    this.#forms += 1
    next.admit()
  }

  /** Returns whether a turn that began then, and has read so many bytes, must be given to those who wait. */
  isOver(startedAtMs: number, bytes: number): boolean {
    if (this.#waiting.size === 0) return false
    const { graceMs, bytesPerSecond, maxBytes } = this.#limits
    const maxMs = graceMs + (bytes / bytesPerSecond) * 1000
    return bytes >= maxBytes || this.clock.monotonicMs() - startedAtMs > maxMs
  }
}

/** The turns of one form. */
export class FormTurn implements Disposable {
  readonly #owner: string
  readonly #turns: FormTurns
  #isTaken = false
  #isDisposed = false
  #startedAtMs = 0
  #bytes = 0

  constructor(owner: string, turns: FormTurns) {
    this.#owner = owner
    this.#turns = turns
  }

  /** Begins a turn, or continues it. Returns undefined where there is one, else resolves when there is. */
  begin(): Promise<void> | undefined {
    if (this.#isTaken && !this.#turns.isOver(this.#startedAtMs, this.#bytes)) return undefined
    this.end()
    const waiting = this.#turns.take(this.#owner)
    if (waiting) return waiting.then(() => this.#start())
    this.#start()
    return undefined
  }

  #start(): void {
    this.#isTaken = true
    this.#startedAtMs = this.#turns.clock.monotonicMs()
    this.#bytes = 0
    // A form that ended while it waited.
    if (this.#isDisposed) this.end()
  }

  /** Resolves as `reading` does. A sender that is silent meanwhile loses its turn. */
  async whileReading<Read extends { value?: Uint8Array | undefined }>(
    reading: Promise<Read>,
  ): Promise<Read> {
    const { clock, silentMs } = this.#turns
    let isRead = false
    const checking = clock.after(silentMs, () => {
      // What arrived while the event loop was busy is read first.
      setImmediate(() => {
        if (!isRead) this.end()
      })
    })
    try {
      const read = await reading
      this.#bytes += read.value?.byteLength ?? 0
      return read
    } finally {
      isRead = true
      checking[Symbol.dispose]()
    }
  }

  /** Gives the turn back, if it has one. */
  end(): void {
    if (!this.#isTaken) return
    this.#isTaken = false
    this.#turns.giveBack()
  }

  [Symbol.dispose](): void {
    this.#isDisposed = true
    this.end()
  }
}
