import type { Readable } from 'node:stream'
import { FormFile } from './form-file'
import type { UploadDirectory } from './upload-directory'
import { invalidRequest } from '../errors'
import { isObject, type JsonObject } from '../wire/json-body'
import type { FormLimits } from '../wire/uploaded-file'

export const maxNameLength = 100
const maxFileNameLength = 255
/** The text of all fields together, in characters. */
const maxFieldsLength = 2 << 20
const name = /^([^[\]]+)(?:\[([^[\]]*)\])?$/

/** One part as the parser reports it. */
interface Part {
  name: unknown
  isTruncated?: boolean
}

/** A file as the parser reports it. */
interface FilePart extends Part {
  stream: Readable
  filename: unknown
  type: string
}

/** A file and its place in the form. */
interface FilePlace {
  field: string
  key: string | undefined
  stream: Readable
  file: FormFile
}

const nextTurn = () => new Promise<void>((resolve) => void setImmediate(resolve))

/**
 * The fields and files of a form as one object: `name[]` is a list, `name[key]` an object. Files go to disk as they
 * arrive, each time that `flush` is called.
 */
export class FormParts implements AsyncDisposable {
  readonly body: JsonObject = {}
  readonly #limits: FormLimits
  readonly #directory: UploadDirectory
  readonly #paths: string[] = []
  readonly #counts = new Map<string, number>()
  /** In the order in which they began to arrive. */
  readonly #files: FilePlace[] = []
  #fieldsLength = 0
  #filesBytes = 0
  #flushing: Promise<void> = Promise.resolve()
  #isDisposed = false

  constructor(limits: FormLimits, directory: UploadDirectory) {
    this.#limits = limits
    this.#directory = directory
  }

  /** Adds a field that is no file. Throws `invalid_request`. */
  addField(part: Part, value: string): void {
    const [field, key] = readName(part.name)
    if (Object.hasOwn(this.#limits.files, field))
      throw invalidRequest(field, 'wrong_type', `${field}: must be a file, with a file name.`)
    this.#fieldsLength += value.length
    if (part.isTruncated || this.#fieldsLength > maxFieldsLength)
      throw invalidRequest(field, 'too_long', `${field}: the fields of the form are too long.`)
    this.#set(field, key, value)
  }

  /** Adds a file, whose pieces `flush` writes. Throws `invalid_request`; `onFailed` is called where a piece is rejected. */
  addFile(part: FilePart, onFailed: (reason: unknown) => void): void {
    const { stream, filename, type } = part
    const [field, key] = readName(part.name)
    const maxCount = Object.hasOwn(this.#limits.files, field)
      ? this.#limits.files[field]
      : undefined
    if (maxCount === undefined)
      throw invalidRequest(field, 'not_allowed', `${field}: must be a text, and no file.`)
    const count = (this.#counts.get(field) ?? 0) + 1
    this.#counts.set(field, count)
    if (count > maxCount)
      throw invalidRequest(field, 'too_many', `${field}: at most ${maxCount} allowed.`)
    const name = readFileName(field, filename)
    const path = this.#directory.newPath()
    this.#paths.push(path)
    const file = new FormFile({ path, name, type })
    this.#files.push({ field, key, stream, file })
    stream.on('data', (piece: Uint8Array) => {
      try {
        this.#addPiece({ field, file }, piece)
      } catch (thrown) {
        onFailed(thrown)
        stream.destroy()
      }
    })
    stream.on('end', () => (file.isComplete = true))
  }

  #addPiece({ field, file }: Pick<FilePlace, 'field' | 'file'>, piece: Uint8Array): void {
    const { maxFileBytes, maxFilesBytes = Infinity } = this.#limits
    if (file.bytes + piece.byteLength > maxFileBytes) throw fileTooLarge(field, maxFileBytes)
    this.#filesBytes += piece.byteLength
    if (this.#filesBytes > maxFilesBytes) throw filesTooLarge(maxFilesBytes)
    file.add(piece)
  }

  /** Writes what arrived of the files; afterwards nothing refers to it. Rejects with `gateway_unavailable`. */
  flush(): Promise<void> {
    this.#flushing = this.#flush()
    return this.#flushing
  }

  async #flush(): Promise<void> {
    // A stream hands its first piece over in a later turn.
    do await nextTurn()
    while (this.#files.some(({ stream }) => stream.readableLength > 0 && !stream.destroyed))
    if (this.#isDisposed) return
    for (const { file } of this.#files) await file.flush()
  }

  /** The field whose file has not arrived whole; null where there is none. */
  get arrivingField(): string | null {
    return this.#files.find(({ file }) => !file.isComplete)?.field ?? null
  }

  /** Adds the files once all of them are written. Throws `invalid_request`. */
  addWrittenFiles(): void {
    for (const { field, key, file } of this.#files) {
      if (file.bytes === 0) throw invalidRequest(field, 'empty', `${field}: the file is empty.`)
      this.#set(field, key, file.toUploaded())
    }
  }

  #set(field: string, key: string | undefined, value: unknown): void {
    const current = this.body[field]
    if (key === undefined) {
      if (current !== undefined)
        throw invalidRequest(field, 'duplicate', `${field}: must be sent once.`)
      this.body[field] = value
    } else if (key === '') {
      if (current !== undefined && !Array.isArray(current)) throw mixed(field)
      this.body[field] = [...(current ?? []), value]
    } else {
      if (current !== undefined && !isObject(current)) throw mixed(field)
      this.body[field] = { ...current, [key]: value }
    }
  }

  /** Removes the files. Never rejects: what remains is removed at the next start. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isDisposed = true
    await this.#flushing.catch(() => undefined)
    for (const { stream, file } of this.#files.splice(0)) {
      stream.destroy()
      await file.close().catch(() => undefined)
    }
    const removing = this.#paths.splice(0).map((path) =>
      Bun.file(path)
        .delete()
        .catch(() => undefined),
    )
    await Promise.all(removing)
  }
}

const mixed = (field: string) =>
  invalidRequest(field, 'wrong_type', `${field}: must be a list or an object, not both.`)

export const filesTooLarge = (maxBytes: number) =>
  invalidRequest(
    null,
    'body_too_large',
    `The files are larger than ${Math.floor(maxBytes / 2 ** 20)} MB together, the maximum of this endpoint.`,
  )

export const fileTooLarge = (field: string | null, maxBytes: number) =>
  invalidRequest(
    field,
    'body_too_large',
    `The file is larger than ${Math.floor(maxBytes / 2 ** 20)} MB, the maximum of this endpoint.`,
  )

/** Returns a field, and its key in brackets. Throws `invalid_request`. */
function readName(text: unknown): [field: string, key: string | undefined] {
  if (typeof text !== 'string' || text === '' || text.length > maxNameLength)
    throw invalidRequest(
      null,
      'bad_format',
      `A field of the form must have a name of 1 to ${maxNameLength} characters.`,
    )
  const [, field = '', key] = name.exec(text) ?? []
  if (field === '' || field === '__proto__' || key === '__proto__')
    throw invalidRequest(text, 'not_allowed', 'The name of a field of the form is not accepted.')
  return [field, key]
}

/** Returns the name of a file. It only tells the provider the format: a path in it would mean something else. */
function readFileName(field: string, filename: unknown): string {
  if (typeof filename !== 'string' || filename === '')
    throw invalidRequest(field, 'required', `${field}: the file must have a name.`)
  if (filename.length > maxFileNameLength)
    throw invalidRequest(
      field,
      'too_long',
      `${field}: the name of the file must have at most ${maxFileNameLength} characters.`,
    )
  // eslint-disable-next-line no-control-regex
  if (/[/\\\u0000-\u001f\u007f]/.test(filename) || filename === '..')
    throw invalidRequest(
      field,
      'bad_format',
      `${field}: the name of the file must not have a path or control characters.`,
    )
  return filename
}
