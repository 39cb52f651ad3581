import { createHash } from 'node:crypto'
import type { Json } from './call'
import type { RawRequest } from './request-parser'

/** The facts of a file that a fake provider records; its bytes are not among them. */
interface ReceivedFile {
  filename: string | null
  type: string
  bytes: number
  sha256: string
  /** The seconds of a WAV file; zero of any other. */
  seconds: number
}

function toFile(content: Buffer, type: string, filename: string | null): ReceivedFile {
  const isWav = content.toString('latin1', 0, 4) === 'RIFF'
  const seconds = isWav ? (content.length - 44) / content.readUInt32LE(28) : 0
  const sha256 = createHash('sha256').update(content).digest('hex')
  return { filename, type, bytes: content.length, sha256, seconds }
}

const wordIn = (head: string, name: string) => new RegExp(`${name}="([^"]*)"`).exec(head)?.[1]

/** A form, with what is known of its files; or a body of sound, with the query; undefined for anything else. */
export function parseForm({ headers, target, body }: RawRequest): Json | undefined {
  const { 'content-type': type = '' } = headers
  if (/^(audio|video)\/|octet-stream/.test(type)) {
    const query = new URL(target, 'http://fake').searchParams
    return { ...Object.fromEntries(query), file: toFile(body, type, null) }
  }
  const boundary = /boundary=(.+)$/.exec(type)?.[1]
  if (boundary === undefined) return undefined
  const form: Json = {}
  let at = body.indexOf(`--${boundary}`)
  for (;;) {
    const start = body.indexOf('\r\n\r\n', at)
    const end = body.indexOf(`\r\n--${boundary}`, start)
    // ElevenLabs has another name for it.
    if (start < 0 || end < 0) return { ...form, model: form['model'] ?? form['model_id'] }
    const head = body.toString('utf8', at, start)
    add(form, head, body.subarray(start + 4, end))
    at = end + 2
  }
}

function add(form: Json, head: string, content: Buffer): void {
  const name = wordIn(head, 'name') ?? ''
  const filename = wordIn(head, 'filename')
  const type = /content-type: (.+)/.exec(head)?.[1] ?? ''
  const value = filename === undefined ? content.toString() : toFile(content, type, filename)
  const known = form[name]
  if (name.endsWith('[]')) form[name] = [...(Array.isArray(known) ? known : []), value]
  else form[name] = value
}
