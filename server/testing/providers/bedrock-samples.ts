import { crc32 } from 'node:zlib'
import { bedrock } from '../../src/providers/bedrock'
import type { AdapterTarget } from '../../src/providers/adapter'
import { sampleChat, sampleTarget } from './samples'
import { isObject, type JsonObject } from '../../src/wire/json-body'

/** A header of type text. */
function header(name: string, value: string): Buffer {
  const size = Buffer.alloc(2)
  size.writeUInt16BE(Buffer.byteLength(value))
  const head = Buffer.from([Buffer.byteLength(name), ...Buffer.from(name), 7])
  return Buffer.concat([head, size, Buffer.from(value)])
}

/** One frame as AWS writes it, for tests: a second writer of the format, straight from its description. */
export function createFrame(
  headers: Readonly<Record<string, string>> | Buffer,
  payload: string,
): Buffer {
  const head = Buffer.isBuffer(headers)
    ? headers
    : Buffer.concat(Object.entries(headers).map(([name, value]) => header(name, value)))
  const body = Buffer.from(payload)
  const frame = Buffer.alloc(16 + head.byteLength + body.byteLength)
  frame.writeUInt32BE(frame.byteLength, 0)
  frame.writeUInt32BE(head.byteLength, 4)
  frame.writeUInt32BE(crc32(frame.subarray(0, 8)), 8)
  head.copy(frame, 12)
  body.copy(frame, 12 + head.byteLength)
  frame.writeUInt32BE(crc32(frame.subarray(0, frame.byteLength - 4)), frame.byteLength - 4)
  return frame
}

/** The frame of an event written as `{"<type>": payload}`, as recordings are. */
export function createEventFrame(line: string): Buffer {
  const parsed: unknown = JSON.parse(line)
  const [entry] = isObject(parsed) ? Object.entries(parsed) : []
  if (!entry) throw new Error(`This is no event: ${line}`)
  const headers = {
    ':event-type': entry[0],
    ':content-type': 'application/json',
    ':message-type': 'event',
  }
  return createFrame(headers, JSON.stringify(entry[1]))
}

export const exceptionFrame = (type: string, message: string): Buffer =>
  createFrame(
    { ':exception-type': type, ':content-type': 'application/json', ':message-type': 'exception' },
    JSON.stringify({ message }),
  )

const claude = 'eu.anthropic.claude-sonnet-4-5-20250929-v1:0'

/** The request for a chat, by the adapter. */
export const write = (fields: JsonObject, model = claude, target: Partial<AdapterTarget> = {}) =>
  bedrock.request(sampleChat(fields), sampleTarget(model, target))

/** Its body. */
export const bodyOf = (fields: JsonObject, model = claude, target: Partial<AdapterTarget> = {}) =>
  write(fields, model, target).body

export const sampleUser = (content: unknown): JsonObject => ({ role: 'user', content })

export const sampleCall = (id: string, name: string, args = '{}') => ({
  id,
  type: 'function',
  function: { name, arguments: args },
})
