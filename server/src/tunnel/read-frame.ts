import { bounds, fromGateway, type FromGateway } from './frames'
import { checkNesting, isObject, type JsonObject } from '../wire/json-body'
import { eventShape } from '../wire/json-shape'
import { parseShaped } from '../wire/json-slices'

/** A breach of the protocol by a gateway: its socket is closed with this message. */
export class ProtocolError extends Error {
  override readonly name = 'ProtocolError'
}

/**
 * Parses a gateway's message as a frame. Chunks, which come by the thousand, are checked by hand, all others by their
 * schema. Throws `ProtocolError`.
 */
export function readFrame(message: string | Buffer): FromGateway {
  if (typeof message !== 'string') throw new ProtocolError('Frames are text, not binary.')
  if (isTooLarge(message)) throw new ProtocolError('A frame has at most 1 MB.')
  const frame = parse(message)
  const { type, id, data, headers, encoding } = frame
  const isPlainChunk = type === 'chunk' && headers === undefined && encoding === undefined
  if (isPlainChunk && isId(id) && typeof data === 'string') return { type, id, data }
  const result = fromGateway.safeParse(frame)
  if (result.success) return checkFrame(result.data, frame)
  const [issue] = result.error.issues
  const where = issue?.path.join('.') || 'type'
  throw new ProtocolError(`A frame is not valid at "${where.slice(0, 100)}".`)
}

/** Bytes are counted only where a text of that length may exceed the bound. */
const isTooLarge = (message: string) =>
  message.length > bounds.frameBytes / 3 && Buffer.byteLength(message) > bounds.frameBytes

const isId = (id: unknown): id is string => typeof id === 'string' && id.length <= 64

function parse(message: string): JsonObject {
  let value: unknown
  try {
    value = parseShaped(message, eventShape)
  } catch {
    throw new ProtocolError('A frame is not JSON.')
  }
  if (!isObject(value)) throw new ProtocolError('A frame is not a JSON object.')
  return value
}

/** Checks the bounds on length and depth, which the schema does not know. */
function checkFrame(frame: FromGateway, source: JsonObject): FromGateway {
  const text = frame.type === 'response' ? (frame.body ?? '') : ''
  const content = frame.type === 'tool_result' ? frame.content : text
  if (Buffer.byteLength(content) > bounds.bodyBytes) {
    throw new ProtocolError('An answer in one frame has at most 256 kB.')
  }
  if (frame.type !== 'hello') return frame
  try {
    checkNesting(source)
  } catch {
    throw new ProtocolError('A hello is nested too deeply.')
  }
  return frame
}
