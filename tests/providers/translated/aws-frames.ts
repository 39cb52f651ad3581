import { crc32 } from 'node:zlib'
import type { Json } from '../conformance/fixture'

const header = (name: string, value: string): Buffer => {
  const size = Buffer.alloc(2)
  size.writeUInt16BE(value.length)
  const head = Buffer.from([name.length, ...Buffer.from(name), 7])
  return Buffer.concat([head, size, Buffer.from(value)])
}

/** One frame of an event stream of AWS, with an event or with an exception. */
export function frame(kind: 'event' | 'exception', type: string, payload: Json): Buffer {
  const headers = Buffer.concat([header(`:${kind}-type`, type), header(':message-type', kind)])
  const body = Buffer.from(JSON.stringify(payload))
  const bytes = Buffer.alloc(16 + headers.length + body.length)
  bytes.writeUInt32BE(bytes.length, 0)
  bytes.writeUInt32BE(headers.length, 4)
  bytes.writeUInt32BE(crc32(bytes.subarray(0, 8)), 8)
  headers.copy(bytes, 12)
  body.copy(bytes, 12 + headers.length)
  bytes.writeUInt32BE(crc32(bytes.subarray(0, -4)), bytes.length - 4)
  return bytes
}

/** Answers with an event stream of these frames. */
export const streamOf =
  (...frames: Buffer[]) =>
  () =>
    new Response(Buffer.concat(frames), {
      headers: { 'content-type': 'application/vnd.amazon.eventstream' },
    })
