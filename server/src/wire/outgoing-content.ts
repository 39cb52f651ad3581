import { randomUUID } from 'node:crypto'
import type { JsonObject } from './json-body'

/** A body that is no JSON: it is read while it is sent, each time from its beginning. */
export interface OutgoingContent {
  type: string
  bytes: number
  read: () => AsyncIterable<Uint8Array>
}

/** A file that is read while it is sent. */
export interface OutgoingFile {
  name: string
  type: string
  /** Exactly as many as `read` gives. */
  bytes: number
  read: () => AsyncIterable<Uint8Array>
}

/** The name of a field, and its value: a text, or a file. */
export type OutgoingField = readonly [name: string, value: string | OutgoingFile]

/** Writes a form for a provider: its texts first, so that the provider can reject it before it has read the files. */
export function toFormContent(fields: readonly OutgoingField[]): OutgoingContent {
  const boundary = `tollgate-${randomUUID()}`
  const texts = fields.flatMap(([name, value]) =>
    typeof value === 'string' ? [Buffer.from(`${toHead(boundary, name)}\r\n${value}\r\n`)] : [],
  )
  const files = fields.flatMap(([name, value]) =>
    typeof value === 'string' ? [] : [{ head: toFileHead(boundary, name, value), file: value }],
  )
  const text = Buffer.concat(texts)
  const end = Buffer.from(`--${boundary}--\r\n`)
  const filesBytes = files.reduce(
    (sum, { head, file }) => sum + head.byteLength + file.bytes + lineBreak.byteLength,
    0,
  )
  return {
    type: `multipart/form-data; boundary=${boundary}`,
    bytes: text.byteLength + filesBytes + end.byteLength,
    async *read() {
      yield text
      for (const { head, file } of files) {
        yield head
        yield* file.read()
        yield lineBreak
      }
      yield end
    },
  }
}

/** A file alone as the whole body. */
export const toFileContent = (file: OutgoingFile): OutgoingContent => ({
  type: toType(file),
  bytes: file.bytes,
  read: () => file.read(),
})

/** A JSON object that has the base64 of a file at the place where `toBody` puts its argument. */
export function toJsonWithFile(
  toBody: (data: string) => JsonObject,
  file: OutgoingFile,
): OutgoingContent {
  // No client can guess it.
  const place = randomUUID()
  const [head = '', tail = ''] = JSON.stringify(toBody(place)).split(place)
  const [before, after] = [Buffer.from(head), Buffer.from(tail)]
  return {
    type: 'application/json',
    bytes: before.byteLength + Math.ceil(file.bytes / 3) * 4 + after.byteLength,
    async *read() {
      yield before
      yield* toBase64(file.read())
      yield after
    },
  }
}

/** Encodes pieces of any length: three bytes are four characters, so that the rest of a piece waits for the next one. */
async function* toBase64(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array, void> {
  let rest: Buffer = Buffer.alloc(0)
  for await (const piece of pieces) {
    const bytes = Buffer.concat([rest, piece])
    const whole = bytes.byteLength - (bytes.byteLength % 3)
    rest = bytes.subarray(whole)
    if (whole > 0) yield Buffer.from(bytes.toString('base64', 0, whole))
  }
  if (rest.byteLength > 0) yield Buffer.from(rest.toString('base64'))
}

const lineBreak = Buffer.from('\r\n')

const toHead = (boundary: string, name: string) =>
  `--${boundary}\r\ncontent-disposition: form-data; name="${escape(name)}"\r\n`

const toFileHead = (boundary: string, name: string, file: OutgoingFile): Buffer =>
  Buffer.from(
    `${toHead(boundary, name).trimEnd()}; filename="${escape(file.name)}"\r\ncontent-type: ${toType(file)}\r\n\r\n`,
  )

/** A type that a client made up could end the line. */
const toType = ({ type }: OutgoingFile) =>
  /^[\w.+-]+\/[\w.+-]+$/.test(type) ? type : 'application/octet-stream'

/** Escapes a name as browsers do. Source: https://html.spec.whatwg.org/#multipart-form-data */
const escape = (name: string) =>
  name.replaceAll('"', '%22').replaceAll('\r', '%0D').replaceAll('\n', '%0A')
