import { JournalError } from './journal-error'
import { closeSync, openSync, readFileSync, renameSync, writeSync } from 'node:fs'

/** An attempt that has begun, as its caller wrote it down. */
export interface OpenRecord {
  attemptId: string
  body: string
}

interface Beginning {
  attemptId: string
  line: string
  resolve: () => void
  reject: (cause: unknown) => void
}

const ownersOnly = 0o600
const smallBytes = 1024 * 1024
/** A file that is so many times larger than what is open is written anew. */
const mostWaste = 4

/** Makes a line that was written in part one that nobody wrote. */
const tornEnd = '~\n'

const lineOf = (attemptId: string, body: string) => {
  const text = `${attemptId} ${body}`
  return `+${Bun.hash.crc32(text).toString(36)} ${text}\n`
}

/**
 * The attempts that run, in a file of lines: one when an attempt begins, one when it ends. What a killed
 * process leaves behind are those that did not end. Nothing is synced here, so a power cut may lose the
 * last lines; a line that fails its checksum is left out. What ends is written with the next line that
 * begins, or by `flush`.
 */
export class OpenRecords implements Disposable {
  readonly #path: string
  readonly #beforeWrite: () => void
  #fd: number
  #bytes = 0
  /** All that are open, by attempt: lines, as they would be written again. */
  readonly #open = new Map<string, string>()
  #openBytes = 0
  readonly #orphans: Map<string, string>
  #beginning: Beginning[] = []
  #ended: string[] = []
  /** A line may have been written in part. */
  #isTorn = false

  /** Opens or creates the file. `beforeWrite` may throw, as a write may. Throws where it cannot be. */
  constructor(path: string, beforeWrite: () => void) {
    this.#path = path
    this.#beforeWrite = beforeWrite
    this.#fd = openSync(path, 'a', ownersOnly)
    this.#orphans = readOpen(path)
    for (const [attemptId, body] of this.#orphans) this.#keep(attemptId, lineOf(attemptId, body))
    this.#rewrite()
  }

  /** How many attempts of this start are open. */
  get count(): number {
    return this.#open.size - this.#orphans.size
  }

  /** What earlier starts left open and `end` has not been called for. */
  orphans(): OpenRecord[] {
    return [...this.#orphans].map(([attemptId, body]) => ({ attemptId, body }))
  }

  /**
   * Resolves when it is written that an attempt begins, together with those that begin in the same turn
   * of the event loop; one that is open already is replaced. The body is one line. Rejects with
   * `JournalError` when it was not.
   */
  begin(attemptId: string, body: string): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    if (this.#beginning.length === 0) setImmediate(() => this.write())
    this.#beginning.push({ attemptId, line: lineOf(attemptId, body), resolve, reject })
    return promise
  }

  /** An attempt has ended. One that never began is none. */
  end(attemptId: string): void {
    const line = this.#open.get(attemptId)
    if (line === undefined) return
    this.#open.delete(attemptId)
    this.#orphans.delete(attemptId)
    this.#openBytes -= line.length
    this.#ended.push(attemptId)
  }

  /** Writes what has ended: before anything else forgets how. Throws. */
  flush(): void {
    if (this.#ended.length === 0) return
    this.#append(this.#endedLines())
    this.#ended = []
  }

  [Symbol.dispose](): void {
    this.write()
    try {
      this.flush()
    } catch {
      // What ended is also known to whoever keeps what was settled.
    }
    closeSync(this.#fd)
  }

  /** Writes at once what is to begin in this turn. */
  write(): void {
    const beginning = this.#beginning
    this.#beginning = []
    if (beginning.length === 0) return
    try {
      this.#append(this.#endedLines() + beginning.map(({ line }) => line).join(''))
    } catch (thrown) {
      for (const { attemptId, reject } of beginning) {
        // Some of the lines may be there.
        if (!this.#open.has(attemptId)) this.#ended.push(attemptId)
        reject(new JournalError('unwritten', thrown))
      }
      return
    }
    this.#ended = []
    for (const { attemptId, line, resolve } of beginning) {
      this.#keep(attemptId, line)
      resolve()
    }
    if (this.#bytes > smallBytes && this.#bytes > mostWaste * this.#openBytes) this.#shrink()
  }

  #endedLines(): string {
    return this.#ended.map((attemptId) => `-${attemptId}\n`).join('')
  }

  #keep(attemptId: string, line: string): void {
    this.#openBytes += line.length - (this.#open.get(attemptId)?.length ?? 0)
    this.#open.set(attemptId, line)
  }

  #append(lines: string): void {
    const text = this.#isTorn ? `${tornEnd}${lines}` : lines
    this.#beforeWrite()
    this.#isTorn = true
    const written = writeSync(this.#fd, text)
    this.#bytes += written
    // Text beyond ASCII has more bytes than characters.
    if (written < Buffer.byteLength(text)) throw new Error('a record was written in part')
    this.#isTorn = false
  }

  #shrink(): void {
    try {
      this.#rewrite()
    } catch {
      // It is only longer than it need be; the next line tries again.
    }
  }

  /** Only what is open, in a new file that takes the old one's place at once. */
  #rewrite(): void {
    const path = `${this.#path}.new`
    const fd = openSync(path, 'w', ownersOnly)
    const bytes = Buffer.from([...this.#open.values()].join(''))
    try {
      if (bytes.length > 0 && writeSync(fd, bytes) < bytes.length) {
        throw new Error('open records were written in part')
      }
      renameSync(path, this.#path)
    } catch (thrown) {
      closeSync(fd)
      throw thrown
    }
    closeSync(this.#fd)
    this.#fd = fd
    this.#bytes = bytes.length
    this.#ended = []
    this.#isTorn = false
  }
}

/** The attempts that began in a file and did not end. */
function readOpen(path: string): Map<string, string> {
  const open = new Map<string, string>()
  for (const line of readFileSync(path, 'utf8').split('\n')) {
    if (line.startsWith('-')) open.delete(line.slice(1))
    const [, sum, text = '', attemptId = '', body = ''] = /^\+(\w+) ((\S+) (.*))$/s.exec(line) ?? []
    if (sum === Bun.hash.crc32(text).toString(36)) open.set(attemptId, body)
  }
  return open
}
