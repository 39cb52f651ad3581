import { randomUUID } from 'node:crypto'

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
