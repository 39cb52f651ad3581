import { open, readFile } from 'node:fs/promises'

const pieceBytes = 64 * 1024

/** The parts of a form that an endpoint accepts as files. */
export interface FormLimits {
  /** The names of the fields that are files, and how many of each there may be. */
  files: Readonly<Record<string, number>>
  maxFileBytes: number
  /** All files together, where they may be fewer bytes than that of each allows. */
  maxFilesBytes?: number
}

/** The duration of a file's sound, or the most that it can be. */
export interface SoundLength {
  /** Milliseconds, rounded up. */
  ms: number
  /** Read from the container; else bounded by the size. */
  isMeasured: boolean
}

interface UploadedFacts {
  /** The place on disk, until the request ends. */
  path: string
  /** The name and the content type that the client gave. */
  name: string
  type: string
  bytes: number
  /** In hexadecimal digits. */
  sha256: string
}

/** A file of a multipart request: on disk, and gone when its request ends. */
export class UploadedFile {
  readonly path: string
  readonly name: string
  readonly type: string
  readonly bytes: number
  readonly #sha256: string
  /** Set once it was measured, by endpoints that read sound. */
  sound: SoundLength | undefined

  constructor({ path, name, type, bytes, sha256 }: UploadedFacts) {
    this.path = path
    this.name = name
    this.type = type
    this.bytes = bytes
    this.#sha256 = sha256
  }

  /** Reads it from its beginning, piece by piece. A piece is valid until the next one is read: all share their memory. */
  async *read(): AsyncGenerator<Uint8Array, void> {
    await using file = await open(this.path, 'r')
    const buffer = Buffer.allocUnsafe(pieceBytes)
    for (;;) {
      const { bytesRead } = await file.read(buffer, 0, pieceBytes)
      if (bytesRead === 0) return
      yield buffer.subarray(0, bytesRead)
    }
  }

  /** Reads it whole into memory: for small files. */
  readWhole(): Promise<Buffer> {
    return readFile(this.path)
  }

  /** Returns what stands for it in logs, and in the comparison of repeats: never its content. */
  toJSON() {
    const { name: filename, type: content_type, bytes } = this
    return { filename, content_type, bytes, sha256: this.#sha256 }
  }
}
