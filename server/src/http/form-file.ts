import { createHash } from 'node:crypto'
import { open, type FileHandle } from 'node:fs/promises'
import { unavailable } from '../errors'
import { UploadedFile } from '../wire/uploaded-file'

interface Facts {
  path: string
  name: string
  type: string
}

/** A file of a form on its way to disk. What was added is a view of what arrived, and is used until `flush` resolves. */
export class FormFile {
  readonly #facts: Facts
  readonly #hash = createHash('sha256')
  #pieces: Uint8Array[] = []
  #handle: FileHandle | undefined
  bytes = 0
  /** All of it was added. */
  isComplete = false

  constructor(facts: Facts) {
    this.#facts = facts
  }

  add(piece: Uint8Array): void {
    this.#pieces.push(piece)
    this.bytes += piece.byteLength
  }

  /** Writes what was added. Rejects with `gateway_unavailable`. */
  async flush(): Promise<void> {
    for (const piece of this.#pieces.splice(0)) {
      this.#handle ??= await open(this.#facts.path, 'wx', 0o600).catch(throwUnavailable)
      this.#hash.update(piece)
      const { byteLength } = piece
      const { bytesWritten } = await this.#handle
        .write(piece, 0, byteLength)
        .catch(throwUnavailable)
      if (bytesWritten !== byteLength) throw unavailable()
    }
    if (this.isComplete) await this.close()
  }

  /** Closes the file. Twice is harmless. */
  async close(): Promise<void> {
    const handle = this.#handle
    this.#handle = undefined
    await handle?.close()
  }

  /** Returns the file once all of it is on disk. */
  toUploaded(): UploadedFile {
    return new UploadedFile({ ...this.#facts, bytes: this.bytes, sha256: this.#hash.digest('hex') })
  }
}

/** The disk is full, or fails: that is no fault of the request. */
function throwUnavailable(cause: unknown): never {
  throw unavailable(cause)
}
