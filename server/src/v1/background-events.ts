import type { BackgroundStore, Owned } from '../stored-responses/background-store'
import { isObject } from '../wire/json-body'

/** Events within this time are written together. */
const togetherMs = 200
const maxTogether = 64 * 1024
/** The tries of the last write, where the database fails. */
const maxAttempts = 5
const retryPauseMs = 1000
/** Beyond this size, or where the account has no room, only the last events are kept. */
const maxBytes = 16 * 1024 * 1024

/** Matches frames whose events begin as all of ours and nearly all of providers do. */
const numbered = /^(?:event: [^\n]*\n)?data: \{"type":"[\w.]*","sequence_number":(\d{1,15})[,}]/

/** Returns the number of one frame's event; -1 for a comment. Most events are not parsed: one may be a whole answer. */
function numberOf(frame: string): number {
  const [, digits] = numbered.exec(frame) ?? []
  if (digits !== undefined) return Number(digits)
  const start = frame.indexOf('data: ')
  try {
    const event: unknown = JSON.parse(frame.slice(start + 'data: '.length))
    const number = isObject(event) ? event['sequence_number'] : undefined
    return typeof number === 'number' ? number : -1
  } catch {
    return -1
  }
}

const framesIn = (text: string): string[] => text.split(/(?<=\n\n)/)

/** Returns the frames whose events follow the event of this number. */
export const framesAfter = (text: string, sequenceNumber: number): string[] =>
  framesIn(text).filter((frame) => numberOf(frame) > sequenceNumber)

/** Returns the number of the last event among these frames. */
export const lastNumberIn = (text: string): number =>
  numberOf(framesIn(text.trimEnd()).at(-1) ?? '')

/** Writes the events of a background response to the database, where all nodes read them. */
export class EventLog {
  readonly #store: Pick<BackgroundStore, 'addEvents'>
  readonly #owned: Owned
  readonly #onError: (error: unknown) => void
  #waiting = ''
  #bytes = 0
  #isFull = false
  #timer: ReturnType<typeof setTimeout> | undefined
  #writing: Promise<void> = Promise.resolve()

  constructor(
    store: Pick<BackgroundStore, 'addEvents'>,
    owned: Owned,
    onError: (error: unknown) => void,
  ) {
    this.#store = store
    this.#owned = owned
    this.#onError = onError
  }

  add(frames: string): void {
    if (this.#isFull || this.#bytes > maxBytes) return
    this.#bytes += frames.length
    this.#waiting += frames
    if (this.#waiting.length > maxTogether) return void this.#write()
    this.#timer ??= setTimeout(() => void this.#write(), togetherMs)
  }

  /** Writes the last events. Resolves when all are written, or cannot be. */
  async end(frames: string): Promise<void> {
    this.#waiting += frames
    for (let attempt = 0; attempt < maxAttempts && this.#waiting !== ''; attempt++) {
      if (attempt > 0) await Bun.sleep(retryPauseMs)
      await this.#write()
    }
  }

  #write(): Promise<void> {
    clearTimeout(this.#timer)
    this.#timer = undefined
    const frames = this.#waiting
    this.#waiting = ''
    if (frames === '') return this.#writing
    const number = lastNumberIn(frames)
    this.#writing = this.#writing
      .then(() => this.#store.addEvents(this.#owned, frames, number))
      .then((isStored) => {
        this.#isFull ||= !isStored
      })
      .catch((thrown: unknown) => {
        this.#onError(thrown)
        // Retried with the next ones. A reader skips events that were written after all.
        this.#waiting = frames + this.#waiting
      })
    return this.#writing
  }
}
