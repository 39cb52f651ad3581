import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import type { Readable } from 'node:stream'
import type { UploadDirectory } from './upload-directory'
import { invalidRequest, unavailable } from '../errors'
import { isObject, type JsonObject } from '../wire/json-body'
import { UploadedFile, type FormLimits } from '../wire/uploaded-file'

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

/** A file's place in the form; the file is there once it is written. */
interface FilePlace {
  field: string
  key: string | undefined
  file?: UploadedFile
}

/**
 * The fields and files of a form as one object: `name[]` is a list, `name[key]` an object. Files are written to disk as
 * they arrive.
 */
export class FormParts implements AsyncDisposable {
  readonly body: JsonObject = {}
  readonly #limits: FormLimits
  readonly #directory: UploadDirectory
  readonly #paths: string[] = []
  readonly #counts = new Map<string, number>()
  /** In the order in which they began to arrive: a short one may be written before a long one. */
  readonly #files: FilePlace[] = []
  #fieldsLength = 0
  #filesBytes = 0

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

  /** Writes a file to disk. Rejects with `invalid_request`. */
  async addFile({ stream, name: partName, filename, type }: FilePart): Promise<void> {
    const [field, key] = readName(partName)
    const maxCount = Object.hasOwn(this.#limits.files, field)
      ? this.#limits.files[field]
      : undefined
    if (maxCount === undefined)
      throw invalidRequest(field, 'not_allowed', `${field}: must be a text, and no file.`)
    const count = (this.#counts.get(field) ?? 0) + 1
    this.#counts.set(field, count)
    if (count > maxCount)
      throw invalidRequest(field, 'too_many', `${field}: at most ${maxCount} allowed.`)
    const checkedName = readFileName(field, filename)
    const path = this.#directory.newPath()
    this.#paths.push(path)
    const place: FilePlace = { field, key }
    this.#files.push(place)
    const written = await this.#write(stream, path, field)
    if (written.bytes === 0) throw invalidRequest(field, 'empty', `${field}: the file is empty.`)
    place.file = new UploadedFile({ path, name: checkedName, type, ...written })
  }

  /** The field whose file has not arrived whole; null where there is none. */
  get arrivingField(): string | null {
    return this.#files.find(({ file }) => !file)?.field ?? null
  }

  /** Adds the files once all of them are written. Throws `invalid_request`. */
  addWrittenFiles(): void {
    for (const { field, key, file } of this.#files) this.#set(field, key, file)
  }

  async #write(stream: Readable, path: string, field: string) {
    const { maxFileBytes, maxFilesBytes = Infinity } = this.#limits
    const hash = createHash('sha256')
    let bytes = 0
    await using file = await open(path, 'wx', 0o600).catch(throwUnavailable)
    for await (const piece of stream) {
      if (!(piece instanceof Uint8Array)) continue
      bytes += piece.byteLength
      if (bytes > maxFileBytes) throw fileTooLarge(field, maxFileBytes)
      this.#filesBytes += piece.byteLength
      if (this.#filesBytes > maxFilesBytes) throw filesTooLarge(maxFilesBytes)
      hash.update(piece)
      const { bytesWritten } = await file.write(piece).catch(throwUnavailable)
      if (bytesWritten !== piece.byteLength) throw unavailable()
    }
    return { bytes, sha256: hash.digest('hex') }
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
    const removing = this.#paths.splice(0).map((path) =>
      Bun.file(path)
        .delete()
        .catch(() => undefined),
    )
    await Promise.all(removing)
  }
}

/** The disk is full, or fails: that is no fault of the request. */
function throwUnavailable(cause: unknown): never {
  throw unavailable(cause)
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
