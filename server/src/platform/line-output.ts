import { write } from 'node:fs'
import { Periodic } from './periodic'

const flushEveryMs = 250
/** Text that is written without waiting for the next flush, in UTF-16 units: a system call for each line costs more than the line. */
const batchLength = 4096
/** The most text that waits for a slow reader, in UTF-16 units. */
const maxWaitingLength = 256 * 1024
/** The delay before a write is repeated that would have blocked. */
const busyRetryMs = 50
/** The longest wait for a reader at the end of the process. */
const maxEndMs = 1000

const lineFeed = 10

const isBusy = (error: NodeJS.ErrnoException) =>
  error.code === 'EAGAIN' || error.code === 'EBUSY' || error.code === 'EINTR'

const countLines = (bytes: Uint8Array): number =>
  bytes.reduce((count, byte) => (byte === lineFeed ? count + 1 : count), 0)

/**
 * Writes lines to an open file, such as standard output, whatever becomes of it: its disk may be full, the reader of its
 * pipe may have gone or may read nothing. `write` never waits and never throws; lines that cannot be written are dropped
 * and counted.
 */
export class LineOutput {
  readonly #fd: number
  readonly #batchLength: number
  readonly #flushing: Periodic
  #text = ''
  /** The bytes that the system has not taken yet. */
  #batch: Buffer | undefined
  /** Whether the output ends within a line, whose rest was dropped. */
  #isMidLine = false
  #onIdle: (() => void)[] = []
  /** The number of lines that could not be written. */
  droppedLines = 0

  /** `isImmediate` is for terminals: a line appears at once. */
  constructor(fd: number, { isImmediate = false } = {}) {
    this.#fd = fd
    this.#batchLength = isImmediate ? 0 : batchLength
    this.#flushing = new Periodic({ intervalMs: flushEveryMs, run: () => this.flush() })
  }

  /** Takes one or more whole lines, each with its line feed. */
  write(lines: string): void {
    if (this.#text.length + lines.length > maxWaitingLength) {
      this.droppedLines += countLines(Buffer.from(lines))
      return
    }
    this.#text += lines
    if (this.#text.length >= this.#batchLength) this.flush()
  }

  /** Resolves once all lines are written or dropped; after a second what a reader has not taken is given up. */
  async end(): Promise<void> {
    this.#flushing.stop()
    const { promise: givenUp, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, maxEndMs)
    await Promise.race([this.#drain(), givenUp])
    clearTimeout(timer)
  }

  async #drain(): Promise<void> {
    this.flush()
    while (this.#batch) {
      await new Promise<void>((resolve) => this.#onIdle.push(resolve))
      this.flush()
    }
  }

  /** Has what waits written now. */
  flush(): void {
    if (this.#batch || this.#text === '') return
    // What follows a line that was cut is a line of its own.
    this.#batch = Buffer.from(this.#isMidLine ? `\n${this.#text}` : this.#text)
    this.#text = ''
    this.#send(this.#batch)
  }

  #send(batch: Buffer): void {
    // On a thread of its own: a pipe that is not read blocks it.
    write(this.#fd, batch, (error, written) => this.#onWritten(batch, error, written))
  }

  #onWritten(batch: Buffer, error: NodeJS.ErrnoException | null, written: number): void {
    if (error && isBusy(error)) {
      setTimeout(() => this.#send(batch), busyRetryMs)
      return
    }
    if (error) return this.#drop(batch)
    if (written > 0) this.#isMidLine = batch[written - 1] !== lineFeed
    const rest = batch.subarray(written)
    if (rest.length > 0) {
      this.#batch = rest
      return this.#send(rest)
    }
    this.#becomeIdle()
    if (this.#text.length >= this.#batchLength) this.flush()
  }

  /** The next flush tries again: a disk gets room, a named pipe a reader. */
  #drop(batch: Buffer): void {
    const isEndOfCutLine = this.#isMidLine && batch[0] === lineFeed
    this.droppedLines += countLines(batch) - (isEndOfCutLine ? 1 : 0)
    this.#becomeIdle()
  }

  #becomeIdle(): void {
    this.#batch = undefined
    for (const resolve of this.#onIdle.splice(0)) resolve()
  }
}
